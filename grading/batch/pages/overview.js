(() => {
  const table = document.getElementById('students');
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.value === undefined) return cell.textContent.trim().toLowerCase();
    return cell.dataset.value === '' ? -Infinity : Number(cell.dataset.value);
  };
  headings.forEach((heading, column) => {
    heading.querySelector('button').addEventListener('click', () => {
      const down = heading.getAttribute('aria-sort') === 'ascending';
      for (const other of headings) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const sign = down ? -1 : 1;
      rows.sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        return sign * (typeof x === 'string' ? x.localeCompare(y) : x === y ? 0 : x < y ? -1 : 1);
      });
      body.append(...rows);
    });
  });
  const filter = document.getElementById('filter');
  const shown = document.getElementById('shown');
  const texts = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
  const apply = () => {
    const wanted = filter.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = !texts.get(row).includes(wanted);
      if (!row.hidden) ++count;
    }
    shown.textContent = `${count} of ${rows.length}`;
  };
  filter.addEventListener('input', apply);
  apply();
})();
