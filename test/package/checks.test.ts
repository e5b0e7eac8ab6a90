import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, it } from 'vitest'
import program from '../../vite.cli.ts'
import library from '../../vite.library.ts'
import { checkScene } from '../support/check-scene.ts'

const entry = fileURLToPath(new URL('../support/checked-run.ts', import.meta.url))

it.each([
  ['program', program],
  ['library', library],
])('bundled as the %s is, a check finds its worker', async (_, config) => {
  const { folder, workspace, env, write } = checkScene()
  const outDir = join(folder, '../built')
  const rolldownOptions = { ...config.build?.rolldownOptions, input: { run: entry } }
  await build({
    ...config,
    configFile: false,
    build: { ...config.build, ssr: true, outDir, emptyOutDir: false, rolldownOptions },
  })
  const name = readdirSync(outDir).find(file => /^(run|runsheet)\.js$/.test(file)) ?? ''
  write('a.test.js', 'x')
  const order = { place: { workspace, env, wrap: [] }, spec: { kind: 'file', path: 'a.test.js' } }
  const printed = execFileSync(process.execPath, [join(outDir, name), JSON.stringify(order)], { encoding: 'utf8' })
  expect(JSON.parse(printed)).toMatchObject({ result: 'passed', fingerprint: expect.any(String) })
})
