import { dirname, posix, resolve } from 'node:path'
import { build, type Plugin, type Rolldown } from 'vite'

const WORKER = 'checks-worker.js'
const STARTED = /new URL\('\.\/worker\.ts', import\.meta\.url\)/
const PLACEHOLDER = '__CHECKS_WORKER__'

/**
 * Bundles the check worker into its own file and points the chunk that starts it there. A shared chunk would pull code
 * that only the CLI needs into the worker.
 */
export const bundleWorker = (target: string): Plugin => ({
  name: 'bundle-worker',
  // Runs before the transforms that reprint the code, which would break the match.
  enforce: 'pre',
  transform: {
    filter: { code: STARTED },
    async handler(code, id) {
      const worker = await bundled(resolve(dirname(id), 'worker.ts'), target)
      this.emitFile({ type: 'prebuilt-chunk', fileName: WORKER, code: worker })
      return { code: code.replace(STARTED, `new URL('${PLACEHOLDER}', import.meta.url)`), map: null }
    },
  },
  renderChunk(code, { fileName }) {
    if (!code.includes(PLACEHOLDER)) return null
    return { code: code.replace(PLACEHOLDER, `./${posix.relative(posix.dirname(fileName), WORKER)}`), map: null }
  },
})

async function bundled(file: string, target: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true },
    build: { ssr: file, write: false, target, minify: false },
  })
  const { output } = result as Rolldown.RolldownOutput
  if (output.length > 1) throw new Error(`${file} is not bundled into one file`)
  return output[0].code
}
