import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { expect, it } from 'vitest'

const ENTRY = 'entry-under-test.ts'

/** Bytes of a minified, gzipped bundle of some code that uses the package; React stays outside. */
async function bundleSize(code: string): Promise<number> {
  const source = fileURLToPath(new URL('../..', import.meta.url))
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    publicDir: false,
    root: source,
    plugins: [
      {
        name: 'entry',
        resolveId: id => (id.endsWith(ENTRY) ? `${source}${ENTRY}` : undefined),
        load: id => (id.endsWith(ENTRY) ? code : undefined),
      },
    ],
    resolve: {
      alias: { 'runsheet/client': `${source}client/index.ts`, 'runsheet/react': `${source}ui/panels/index.ts` },
    },
    build: {
      write: false,
      target: 'es2023',
      lib: { entry: `/${ENTRY}`, formats: ['es'] },
      rolldownOptions: { external: /^react(\/|$)/ },
    },
  })
  const outputs = (Array.isArray(built) ? built : [built]).flatMap(each => ('output' in each ? each.output : []))
  const chunks = outputs.flatMap(output => (output.type === 'chunk' ? output.code : []))
  expect(chunks).toHaveLength(1)
  return gzipSync(chunks.join(''), { level: 9 }).length
}

it('useConversation alone is under 3 kB gzip, and under 18 kB with the client', async () => {
  expect(await bundleSize("export { useConversation } from 'runsheet/react'")).toBeLessThan(3_000)
  const both = "export { createClient } from 'runsheet/client'; export { useConversation } from 'runsheet/react'"
  expect(await bundleSize(both)).toBeLessThan(18_000)
})

it('the headless hooks come without icons and drag and drop', async () => {
  expect(await bundleSize("export { useReview, useTasks } from 'runsheet/react'")).toBeLessThan(21_500)
})
