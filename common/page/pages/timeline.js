// Draws what each <figure class="timeline" data-run="..."> holds (comm/trace/timeline_json.h): a row for each rank, time to
// the right.
(() => {
  const svgName = 'http://www.w3.org/2000/svg';
  const left = 64, right = 12, top = 28, rowHeight = 44;

  const element = (name, attributes, text) => {
    const made = document.createElementNS(svgName, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const button = (text, label, action) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.setAttribute('aria-label', label);
    made.addEventListener('click', action);
    return made;
  };
  const time = seconds => {
    const [factor, unit] = seconds < 1e-3 ? [1e6, 'us'] : seconds < 1 ? [1e3, 'ms'] : [1, 's'];
    return `${Number((seconds * factor).toPrecision(4))} ${unit}`;
  };
  // 1, 2 or 5 times a power of ten, so that there are at most `most` steps.
  const stepOf = (length, most) => {
    const power = 10 ** Math.floor(Math.log10(length / most));
    return [1, 2, 5, 10].map(factor => factor * power).find(step => length / step <= most);
  };

  // "12 messages, 60 calls of collectives and 3 computations"
  const countOf = ({boxes, arrows}) => {
    const collectives = boxes.filter(box => box[4] === 'collective').length;
    const counts = [[arrows.length, 'message'], [collectives, 'call', ' of collectives'], [boxes.length - collectives, 'computation']]
      .filter(([count]) => count > 0).map(([count, one, rest = '']) => `${count} ${one}${count === 1 ? '' : 's'}${rest}`);
    return counts.length === 1 ? counts[0] : `${counts.slice(0, -1).join(', ')} and ${counts.at(-1)}`;
  };

  for (const figure of document.querySelectorAll('figure.timeline')) {
    const run = JSON.parse(figure.dataset.run);
    const svg = element('svg', {tabindex: 0, role: 'application', 'aria-label':
      'timeline: plus and minus zoom, left and right move, up and down go from message to message, Home shows all'});
    const said = document.createElement('p');
    said.setAttribute('role', 'status');
    said.className = 'mono break';
    const tools = document.createElement('div');
    tools.className = 'tools';
    let clock, shapes, end, from, to, chosen;

    const y = rank => top + rowHeight * (rank + 0.5);
    const width = () => Math.max(280, figure.clientWidth);
    const x = at => left + (at - from) / (to - from) * (width() - left - right);
    const describe = ([start, stop, text, , , lost]) =>
      lost ? `${text}; from ${time(start)} on` : `${text}; ${time(start)} to ${time(stop)}, takes ${time(stop - start)}`;

    const draw = () => {
      const height = top + rowHeight * run.ranks + 10;
      svg.setAttribute('viewBox', `0 0 ${width()} ${height}`);
      svg.setAttribute('width', width());
      svg.setAttribute('height', height);
      svg.replaceChildren();
      const step = stepOf(to - from, Math.max(2, Math.floor(width() / 110)));
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        svg.append(element('line', {x1: x(at), x2: x(at), y1: top - 6, y2: height, class: 'grid'}));
        svg.append(element('text', {x: x(at), y: top - 12, 'text-anchor': x(at) > width() - 40 ? 'end' : 'middle'}, time(at)));
      }
      const inside = element('svg', {x: left, y: 0, width: width() - left - right, height,
        viewBox: `${left} 0 ${width() - left - right} ${height}`});
      for (let rank = 0; rank < run.ranks; ++rank) {
        svg.append(element('text', {x: 4, y: y(rank) + 4}, `rank ${rank}`));
        inside.append(element('line', {x1: left, x2: width(), y1: y(rank), y2: y(rank), class: 'rank'}));
      }
      for (const at of clock.checks ?? [])
        inside.append(element('line', {x1: x(at), x2: x(at), y1: top - 6, y2: height, class: 'check'}));
      for (const [src, dst, start, stop] of clock.path) {
        if (stop >= from && start <= to)
          inside.append(element('line', {x1: x(start), y1: y(src), x2: x(stop), y2: y(dst), class: 'path'}));
      }
      for (const [index, shape] of shapes.entries()) {
        const [start, stop, , first, second, lost] = shape;
        if (stop < from || start > to) continue;
        const isBox = second === undefined;
        const made = isBox
          ? element('rect', {x: x(start), y: y(first) - 9, width: Math.max(1.5, x(stop) - x(start)), height: 18})
          : element('line', {x1: x(start), y1: y(first), x2: x(stop), y2: y(second)});
        made.setAttribute('class', `${isBox ? 'box' : 'arrow'}${lost ? ' lost' : ''}${index === chosen ? ' chosen' : ''}`);
        made.addEventListener('pointerenter', () => { said.textContent = describe(shape); });
        made.addEventListener('click', () => choose(index));
        inside.append(made);
        if (!isBox && !lost) inside.append(element('circle', {cx: x(stop), cy: y(second), r: index === chosen ? 4 : 2.5, class: 'tip'}));
      }
      svg.append(inside);
    };
    const choose = index => {
      chosen = index;
      const shape = shapes[index];
      said.textContent = describe(shape);
      if (shape[1] < from || shape[0] > to) show((shape[0] + shape[1]) / 2 - (to - from) / 2, to - from);
      else draw();
    };
    const show = (start, length) => {
      length = Math.min(Math.max(length, end * 1e-5), end);
      from = Math.min(Math.max(start, 0), end - length);
      to = from + length;
      draw();
    };
    const zoom = (factor, at) => show(at - (at - from) * factor, (to - from) * factor);
    const middle = () => (from + to) / 2;
    const use = index => {
      clock = run.clocks[index];
      shapes = [
        ...clock.boxes.map(([rank, start, stop, text]) => [start, stop, `rank ${rank}: ${text}`, rank]),
        ...clock.arrows.map(([src, dst, start, stop, text, lost]) => [start, stop, text, src, dst, lost]),
      ].sort((a, b) => a[0] - b[0]);
      end = Math.max(shapes.length === 0 ? 1e-6 : 1e-9, ...[...shapes.map(shape => shape[1]), ...clock.path.map(part => part[3])]) * 1.01;
      chosen = undefined;
      const numLost = shapes.filter(shape => shape[5]).length;
      said.textContent = (shapes.length === 0 ? 'no message, and no computation that takes time' :
        `${countOf(clock)} in ${time(end / 1.01)} of ${clock.name}`) +
        (run.is_cut ? '; later ones are not drawn' : run.left_out > 0 ? `; ${run.left_out} later ones are not drawn` : '') +
        (numLost > 0 ? `; ${numLost} of them, dashed, ${numLost === 1 ? 'was' : 'were'} waited for in vain` : '') +
        (clock.path.length > 0 ? '; the critical path is red' : '') +
        ((clock.checks ?? []).length > 0 ? '; where the next check begins, there is a thick line' : '');
      show(0, end);
    };

    const choice = document.createElement('select');
    choice.setAttribute('aria-label', 'clock');
    for (const [index, one] of run.clocks.entries()) {
      const option = document.createElement('option');
      option.value = index;
      option.textContent = one.name;
      choice.append(option);
    }
    choice.addEventListener('change', () => use(Number(choice.value)));
    if (run.clocks.length > 1) tools.append(choice);
    tools.append(button('+', 'zoom in', () => zoom(0.5, middle())), button('\u2212', 'zoom out', () => zoom(2, middle())),
      button('all', 'show all', () => show(0, end)));

    const keys = {
      '+': () => zoom(0.5, middle()), '=': () => zoom(0.5, middle()), '-': () => zoom(2, middle()),
      ArrowLeft: () => show(from - (to - from) / 4, to - from), ArrowRight: () => show(from + (to - from) / 4, to - from),
      ArrowDown: () => choose(chosen === undefined ? 0 : Math.min(chosen + 1, shapes.length - 1)),
      ArrowUp: () => choose(chosen === undefined ? 0 : Math.max(chosen - 1, 0)), Home: () => show(0, end),
    };
    svg.addEventListener('keydown', event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key] || shapes.length === 0) return;
      event.preventDefault();
      keys[event.key]();
    });
    const timeAt = event =>
      from + (event.clientX - svg.getBoundingClientRect().left - left) / (width() - left - right) * (to - from);
    svg.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.shiftKey) return;  // else the page scrolls
      event.preventDefault();
      zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, timeAt(event));
    }, {passive: false});
    let dragged;
    svg.addEventListener('pointerdown', event => { dragged = {x: event.clientX, from}; });
    svg.addEventListener('pointermove', event => {
      if (!dragged || event.buttons === 0) return;
      show(dragged.from - (event.clientX - dragged.x) / (width() - left - right) * (to - from), to - from);
    });
    window.addEventListener('pointerup', () => { dragged = undefined; });

    figure.append(tools, svg, said);
    use(0);
    new ResizeObserver(() => draw()).observe(figure);
  }
})();
