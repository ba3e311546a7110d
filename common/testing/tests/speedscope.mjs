// Opens Chrome traces with the importer in speedscope's published bundle, and compares each row's slices, and the time
// that they take, with those that are written. The bundle exports nothing: the importer's function is found by the name
// that it is called by, and the app, which comes last, is left out.
// usage: node speedscope.mjs BUNDLE.js TRACE.json...
import {readFileSync} from 'node:fs'
import {runInThisContext} from 'node:vm'

const [bundle, ...files] = process.argv.slice(2)
const code = readFileSync(bundle, 'utf8')
const importer = code.match(/async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText\(/)
const app = code.lastIndexOf('console.log(`speedscope v')
if (!importer || app < 0) throw new Error(`${bundle}: expected importProfileGroupFromText and the app after it`)
globalThis.window = {location: {hash: '', protocol: 'file:'}}
runInThisContext(`${code.slice(0, app)}globalThis.importText = ${importer[1]}; return; ${code.slice(app)}`)

const messages = []
console.log = () => {}
console.warn = (message) => messages.push(message)
let wrong = 0
for (const file of files) {
  messages.length = 0
  const text = readFileSync(file, 'utf8')
  const written = new Map()  // by row: slices, microseconds
  for (const event of JSON.parse(text).traceEvents) {
    if (event.ph !== 'X') continue
    const name = `${event.pid} ${event.tid}`
    if (!written.has(name)) written.set(name, [0, 0])
    const row = written.get(name)
    row[0] += 1
    row[1] += event.dur
  }
  const slices = [...written.values()].reduce((sum, row) => sum + row[0], 0)
  let got = 0, different = 0
  const count = (node) => node.children.reduce((sum, child) => sum + 1 + count(child), 0)
  for (const profile of (await importText('trace.json', text)).profiles) {
    const [, pid, tid] = profile.getName().match(/pid (\d+).*tid (\d+)/)
    const row = written.get(`${pid} ${tid}`), root = profile.getAppendOrderCalltreeRoot()
    const here = count(root), time = root.children.reduce((sum, child) => sum + child.getTotalWeight(), 0)
    got += here
    if (here !== row[0] || Math.abs(time - row[1]) > 1e-3) different += 1
  }
  process.stdout.write(`${slices} slices in ${written.size} rows; speedscope has ${got}, ${different} rows differ, ` +
    `${messages.length} warnings${messages.length ? ', such as ' + messages[0] : ''}\n`)
  if (slices === 0 || got !== slices || different || messages.length) wrong += 1
}
process.exit(wrong ? 1 : 0)
