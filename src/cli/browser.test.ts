import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import { browserFor } from './server/page-server.ts'

it.each([
  ['linux', { DISPLAY: ':0' }],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }],
  ['darwin', {}],
  ['win32', {}],
] as const)('%s with %j has a browser', (platform, environment) => {
  expect(browserFor(environment, platform)).toBeTypeOf('function')
})

it.each([
  ['linux', {}],
  ['linux', { DISPLAY: '' }],
  ['linux', { DISPLAY: ':10', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }],
  ['darwin', { SSH_TTY: '/dev/ttys001' }],
  ['win32', { CI: 'true' }],
] as const)('%s with %j has none', (platform, environment) => {
  expect(browserFor(environment, platform)).toBeUndefined()
})

it('a browser that cannot be started fails nothing', async () => {
  const open = browserFor({ DISPLAY: ':9', BROWSER: '/nowhere/browser' }, 'linux')
  expect(() => open?.('http://127.0.0.1:4747/')).not.toThrow()
  await new Promise(setImmediate)
})

it('[TG13] a browser gets what it needs to find the desktop, and none of our tokens and keys', async () => {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script = join(folder, 'browser')
  const seen = join(folder, 'seen')
  writeFileSync(script, `#!/bin/sh\nenv > ${seen}.new\nmv ${seen}.new ${seen}\n`, { mode: 0o755 })
  const desktop = { DISPLAY: ':9', XDG_RUNTIME_DIR: '/run/user/1', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' }
  const secrets = {
    RUNSHEET_TOKEN: 't',
    RUNSHEET_MODEL_KEY: 'k',
    OPENAI_API_KEY: 'o',
    CLAUDE_CODE_MESSAGING_TOKEN: 'c',
  }
  browserFor({ PATH: '/usr/bin:/bin', BROWSER: script, ...desktop, ...secrets }, 'linux')?.('http://127.0.0.1/')
  await expect.poll(() => existsSync(seen)).toBe(true)
  const environment = readFileSync(seen, 'utf8')
  for (const [name, value] of Object.entries(desktop)) expect(environment).toContain(`${name}=${value}`)
  expect(environment).not.toMatch(/RUNSHEET|OPENAI|CLAUDE/)
})
