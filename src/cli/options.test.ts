import { expect, it } from 'vitest'
import { serveOptions } from './options.ts'

it('the help names what keeps an idle server: no review that waits', () => {
  const idleExit = serveOptions().find(({ long }) => long === '--idle-exit')
  expect(idleExit?.description).toBe(
    'exit after this long without requests, streams or running turns, e.g. 30m, 90s, 2h',
  )
})

it('the help says that the page comes after options and variables', () => {
  const model = serveOptions().find(({ long }) => long === '--model')
  expect(model?.description).toContain("(default: the page's settings, else demo)")
  expect(model?.defaultValue).toBeUndefined()
})
