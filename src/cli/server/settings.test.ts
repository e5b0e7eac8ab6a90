import { rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { configFolder, readSettings } from './settings.ts'

it.each([
  [{ XDG_CONFIG_HOME: '/etc/ann' }, 'linux', '/etc/ann/runsheet'],
  [{}, 'linux', join(homedir(), '.config', 'runsheet')],
  [{ XDG_CONFIG_HOME: '' }, 'darwin', join(homedir(), '.config', 'runsheet')],
  [{ XDG_CONFIG_HOME: '.config' }, 'linux', join(homedir(), '.config', 'runsheet')],
  [{ APPDATA: '/users/ann' }, 'win32', '/users/ann/runsheet'],
] as const)("[TG1] with %j on %s the user's own folder is %s", (environment, platform, folder) => {
  expect(configFolder(environment, platform)).toBe(folder)
})

it("checks.held_out counts in a file that the user named, and in a project's own only once it is trusted", () => {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'runsheet.json')
  const read = (by: 'cli' | 'default', held_out: string) => {
    writeFileSync(file, JSON.stringify({ checks: { held_out } }))
    const lines: string[] = []
    const options = { config: { file, by }, environment: { XDG_CONFIG_HOME: folder }, invocation: 'runsheet' }
    return [readSettings(options, line => lines.push(line)).checks.held_out, lines.join('\n')]
  }
  expect(read('cli', '/held')).toEqual(['/held', ''])
  expect(read('default', '/held')).toEqual([undefined, expect.stringContaining('ignored checks.held_out in')])
  expect(() => read('cli', 'held')).toThrow('checks.held_out must be an absolute path, not held.')
})
