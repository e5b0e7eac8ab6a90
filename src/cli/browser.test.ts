import { expect, it } from 'vitest'
import { browserFor } from './browser.ts'

it.each([
  ['linux', { DISPLAY: ':0' }],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }],
  ['darwin', {}],
  ['win32', {}],
] as const)('[MC42] %s with %j has a browser', (platform, environment) => {
  expect(browserFor(environment, platform)).toBeTypeOf('function')
})

it.each([
  ['linux', {}],
  ['linux', { DISPLAY: '' }],
  ['linux', { DISPLAY: ':10', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }],
  ['darwin', { SSH_TTY: '/dev/ttys001' }],
  ['win32', { CI: 'true' }],
] as const)('[MC42] %s with %j has none', (platform, environment) => {
  expect(browserFor(environment, platform)).toBeUndefined()
})

it('[MC42] a browser that cannot be started fails nothing', async () => {
  const open = browserFor({ DISPLAY: ':9', BROWSER: '/nowhere/browser' }, 'linux')
  expect(() => open?.('http://127.0.0.1:4747/')).not.toThrow()
  await new Promise(setImmediate)
})
