import { hash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { bundleWorker } from '../../scripts/bundle-worker.ts'
import { BUILT } from './children.ts'

/** The programs that tests start most often. */
const PROGRAMS = ['check-runner', 'claim-child', 'mcp-fixture', 'turn-child', 'writer']
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** One per checkout: worktrees may share their node_modules. */
const FOLDER = join(tmpdir(), `runsheet-children-${hash('sha256', ROOT, 'hex').slice(0, 8)}`)

// On the process, since each project loads this module anew.
declare global {
  var runsheetChildren: Promise<unknown> | undefined
}

/** Bundles the programs, in a second: each of hundreds of starts then takes half the time. */
export default async function setup(): Promise<void> {
  await (globalThis.runsheetChildren ??= bundle())
  process.env['TEST_CHILDREN'] = FOLDER
  if (isCurrent(BUILT)) process.env['TEST_CLI'] = BUILT
}

/** Whether a built file is newer than the source. In `npm test` it always is. */
function isCurrent(file: string): boolean {
  const built = statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return sources
    .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .every(path => statSync(join(ROOT, 'src', path)).mtimeMs < built)
}

const bundle = (): Promise<unknown> =>
  build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [bundleWorker('node22')],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: FOLDER,
      emptyOutDir: true,
      target: 'node22',
      minify: false,
      rolldownOptions: {
        input: PROGRAMS.map(name => fileURLToPath(new URL(`${name}.ts`, import.meta.url))),
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
