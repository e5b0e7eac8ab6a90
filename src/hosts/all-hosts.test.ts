import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isOurs } from './hooks.ts'
import { FEATURES, type Installation, type Place, type Scope, startedBy } from './host.ts'
import { HOST_NAMES } from './hosts.ts'
import type { SettingsFile } from './settings.ts'
import { hostsWith } from './index.ts'

const hosts = hostsWith("// Runsheet's plugin for OpenCode\nconst SETTINGS = {}\n")
const place = (scope: Scope, more: Partial<Place> = {}): Place => ({
  scope,
  home: '/home/ann',
  project: '/work/app',
  environment: {},
  platform: 'linux',
  read: () => undefined,
  ...more,
})
const user: Installation = {
  program: ['/opt/node', '/opt/runsheet.js'],
  data: '/home/ann/.runsheet',
  features: FEATURES,
}
const project: Installation = { program: ['runsheet'], data: undefined, features: FEATURES }

const tried: ReadonlySet<string> = new Set(['claude-code', 'codex', 'gemini', 'opencode', 'qwen'])
/** Codex says with each call which session it is. */
const TELLS_SESSION: Readonly<Record<string, readonly string[]>> = {
  'claude-code': ['UserPromptSubmit'],
  gemini: ['BeforeAgent'],
  qwen: ['UserPromptSubmit'],
  opencode: ['plugin'],
}
const textOf = (name: (typeof HOST_NAMES)[number], scope: Scope, installation: Installation): string =>
  JSON.stringify(hosts[name].settings(place(scope), installation).map(settings => ({ ...settings, path: '' })))

describe.each(HOST_NAMES)('%s', name => {
  const host = hosts[name]
  const [first] = host.settings(place('user'), user) as readonly SettingsFile[]

  it('for a user it is started with absolute paths, and its own data folder', () => {
    const server = startedBy(first?.server?.value ?? {})
    expect(server?.words.slice(0, 5)).toEqual(['/opt/node', '/opt/runsheet.js', 'mcp', '--data', '/home/ann/.runsheet'])
    expect(server?.words.includes('--hooks')).toBe(tried.has(name))
    expect(server?.installation).toEqual(tried.has(name) ? user : { ...user, features: [] })
    expect(textOf(name, 'user', user)).not.toContain('npx')
  })

  it('for a project there is nothing of this machine', () => {
    const files = host.settings(place('project'), project)
    expect(files.every(({ path }) => path.startsWith('/work/app/'))).toBe(true)
    expect(textOf(name, 'project', project)).not.toMatch(/\/(home|opt|work|usr)\//)
    expect(startedBy((files[0] as SettingsFile).server?.value ?? {})?.words.slice(0, 2)).toEqual(['runsheet', 'mcp'])
  })

  it('with gate, evidence and digest off, only what tells the session is left', () => {
    const files = host.settings(place('user'), { ...user, features: [] })
    const server = startedBy((files[0] as SettingsFile).server?.value ?? {})
    const off = ['--hooks', '--no-gate', '--no-evidence', '--no-digest']
    expect(server?.words.slice(5)).toEqual(tried.has(name) ? off : [])
    expect(server?.installation?.features).toEqual([])
    const hooks = files.flatMap(file =>
      file.format === 'own' ? [file.text && 'plugin'] : Object.keys(file.hooks ?? {}),
    )
    expect(hooks).toEqual(TELLS_SESSION[name] ?? [])
  })
})

describe('hooks', () => {
  const events = (name: (typeof HOST_NAMES)[number], features: Installation['features']): readonly string[] =>
    hosts[name]
      .settings(place('user'), { ...user, features })
      .flatMap(file => (file.format === 'own' ? [] : Object.keys(file.hooks ?? {})))

  it.each([
    ['claude-code', ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'Stop']],
    ['codex', ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop']],
    ['gemini', ['SessionStart', 'BeforeAgent', 'AfterTool', 'AfterAgent']],
    ['qwen', ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'Stop']],
  ] as const)('%s has those of its events that are of use, and only for what is on', (name, all) => {
    expect(events(name, FEATURES)).toEqual(all)
    // A prompt names the session that evidence belongs to; Codex does with each call.
    const isPrompt = (event: string): boolean => event === all[1] && name !== 'codex'
    expect(events(name, ['evidence']).every(event => /Tool/.test(event) || isPrompt(event))).toBe(true)
    expect(events(name, ['evidence']).some(isPrompt)).toBe(name !== 'codex')
    expect(events(name, ['digest', 'evidence'])).not.toContain(all.at(-1))
    expect(events(name, ['gate', 'digest']).some(event => /Tool/.test(event))).toBe(false)
    expect(textOf(name, 'user', { ...user, features: ['gate'] })).toMatch(/--no-evidence\W+--no-digest/)
  })

  it('Codex gets exactly the variables that each event has', () => {
    const text = textOf('codex', 'user', user)
    expect([...new Set(text.match(/\$\{\w+\}/g))].sort()).toEqual([
      '${hook_event_name}',
      '${session_id}',
      '${source}',
      '${tool_input}',
      '${tool_name}',
      '${tool_response}',
      '${tool_use_id}',
      '${turn_id}',
    ])
    expect(text).not.toContain('trusted_hash')
  })

  it('Codex passes on the variables that say whether a plan can be opened in a browser', () => {
    const [file] = hosts.codex.settings(place('project'), project) as readonly SettingsFile[]
    expect(file?.server?.value['env_vars']).toEqual(
      expect.arrayContaining(['DISPLAY', 'BROWSER', 'SSH_CONNECTION', 'CI']),
    )
  })

  const commandsOf = (name: 'gemini' | 'qwen', where: Place, installation: Installation): readonly string[] =>
    hosts[name]
      .settings(where, installation)
      .flatMap(file => (file.format === 'own' ? [] : Object.values(file.hooks ?? {})))
      .flatMap(group => group.hooks.map(({ command }) => String(command)))

  describe.each(['gemini', 'qwen'] as const)('%s', name => {
    it.each([
      ['a Node that is gone', place('user'), { ...user, program: ['/gone/node', '/gone/runsheet.js'] }],
      ['a script that is gone', place('user'), { ...user, program: [process.execPath, '/gone/runsheet.js'] }],
      ['no runsheet on the PATH', place('project'), project],
    ] as const)('a hook command ends with 0 and no answer: %s', (_, where, installation) => {
      const commands = commandsOf(name, where, installation)
      expect(commands.length).toBeGreaterThan(3)
      for (const command of commands) {
        expect(isOurs({ type: 'command', command })).toBe(true)
        const ended = spawnSync('bash', ['--norc', '-c', command], {
          input: '{}',
          encoding: 'utf8',
          env: { PATH: '/usr/bin:/bin' },
        })
        expect(ended).toMatchObject({ status: 0, stdout: '' })
        if (where.scope === 'user') expect(ended.stderr).toBe('')
      }
    })

    it('a hook command passes on the event and the answer', () => {
      const words = ['-e', 'process.stdin.on("data", text => console.log(`$ "${text}" \\\\n`))'] as const
      const [command = ''] = commandsOf(name, place('user'), { ...user, program: [process.execPath, ...words, '--'] })
      const { stdout } = spawnSync('bash', ['--norc', '-c', command], { input: '{"a":1}', encoding: 'utf8' })
      expect(stdout).toBe('$ "{"a":1}" \\n')
    })

    it('in a project the command is the same on each system, and PowerShell gets its own form for a user', () => {
      const windows = { platform: 'win32' } as const
      expect(commandsOf(name, place('project', windows), project)).toEqual(commandsOf(name, place('project'), project))
      const odd = { ...user, program: ['C:\\Program Files\\node.exe', "C:\\ann's\\runsheet.js"] } as const
      expect(commandsOf(name, place('user', windows), odd)[0]).toBe(
        `& 'C:\\Program Files\\node.exe' 'C:\\ann''s\\runsheet.js' hook SessionStart --host ${name} --data /home/ann/.runsheet ; exit 0`,
      )
    })
  })

  it('Codex needs the server for a user, and starts without it in a project', () => {
    const required = (scope: Scope, installation: Installation): unknown =>
      (hosts.codex.settings(place(scope), installation)[0] as SettingsFile).server?.value['required']
    expect(required('user', user)).toBe(true)
    expect(required('project', project)).toBe(false)
  })

  it('a command survives the shell, whatever the paths', () => {
    const odd = { ...user, program: ['/opt/my node', "/opt/ann's/runsheet.js"] as const }
    expect(textOf('gemini', 'user', { ...odd, data: '/home/$ann' })).toContain(
      `'/opt/my node' '/opt/ann'\\\\''s/runsheet.js' hook SessionStart --host gemini --data '/home/$ann'`,
    )
  })
})

describe('where settings are', () => {
  const paths = (name: (typeof HOST_NAMES)[number], more: Partial<Place>): readonly string[] =>
    hosts[name].settings(place('user', more), user).map(({ path }) => path)

  it('follows the variables and files of the host', () => {
    const environment = {
      CLAUDE_CONFIG_DIR: '/c',
      CODEX_HOME: '/x',
      GEMINI_CLI_HOME: '/g',
      QWEN_HOME: '~/q',
      XDG_CONFIG_HOME: '/conf',
    }
    expect(paths('claude-code', { environment })).toEqual(['/c/.claude.json', '/c/settings.json'])
    expect(paths('codex', { environment })).toEqual(['/x/config.toml', '/x/hooks.json'])
    expect(paths('gemini', { environment })).toEqual(['/g/.gemini/settings.json'])
    expect(paths('qwen', { environment })).toEqual(['/home/ann/q/settings.json'])
    expect(paths('opencode', { environment })).toEqual([
      '/conf/opencode/opencode.json',
      '/conf/opencode/plugin/runsheet.js',
    ])
    expect(paths('opencode', { read: path => (path.endsWith('.jsonc') ? '{}' : undefined) })[0]).toBe(
      '/home/ann/.config/opencode/opencode.jsonc',
    )
    const entry = '{ "mcp": { "runsheet": { "type": "local" } } }'
    const config = '/home/ann/.config/opencode'
    const opencode = (files: Readonly<Record<string, string>>): readonly string[] =>
      paths('opencode', {
        read: path => files[path.slice(config.length + 1)],
      }).map(path => path.slice(config.length + 1))
    // A file that appears later does not hide the one with our entry.
    expect(opencode({ 'opencode.json': entry, 'opencode.jsonc': '{}' })).toEqual([
      'opencode.json',
      'plugin/runsheet.js',
    ])
    expect(opencode({ 'opencode.json': entry, 'opencode.jsonc': entry })).toEqual([
      'opencode.jsonc',
      'plugin/runsheet.js',
      'opencode.json',
    ])
    expect(opencode({ 'opencode.jsonc': '{' })[0]).toBe('opencode.jsonc')
    expect(paths('vscode', { environment })).toEqual(['/conf/Code/User/mcp.json'])
    expect(paths('vscode', { platform: 'darwin' })).toEqual([
      '/home/ann/Library/Application Support/Code/User/mcp.json',
    ])
    expect(paths('zed', { platform: 'darwin' })).toEqual(['/home/ann/.config/zed/settings.json'])
    expect(paths('zed', { platform: 'win32', environment: { APPDATA: '/roaming' } })).toEqual([
      '/roaming/Zed/settings.json',
    ])
  })
})
