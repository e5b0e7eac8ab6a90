import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { configFolder } from './settings.ts'

it.each([
  [{ XDG_CONFIG_HOME: '/etc/ann' }, 'linux', '/etc/ann/runsheet'],
  [{}, 'linux', join(homedir(), '.config', 'runsheet')],
  [{ XDG_CONFIG_HOME: '' }, 'darwin', join(homedir(), '.config', 'runsheet')],
  [{ XDG_CONFIG_HOME: '.config' }, 'linux', join(homedir(), '.config', 'runsheet')],
  [{ APPDATA: '/users/ann' }, 'win32', '/users/ann/runsheet'],
] as const)("[TG1] with %j on %s the user's own folder is %s", (environment, platform, folder) => {
  expect(configFolder(environment, platform)).toBe(folder)
})
