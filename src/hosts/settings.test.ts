import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Installation, Place } from './host.ts'
import { HOST_NAMES } from './hosts.ts'
import { hostsWith } from './index.ts'
import { SettingsError, readJson, setJson } from './json-edit.ts'
import { addition, merge, removal, unmerge, type Change, type Settings, type SettingsFile } from './settings.ts'
import { readToml } from './toml-edit.ts'

const PLUGIN = "// Runsheet's plugin for OpenCode.\nconst SETTINGS = {}\n"
const hosts = hostsWith(PLUGIN)

const place: Place = {
  scope: 'user',
  home: '/home/ann',
  project: '/home/ann/project',
  environment: {},
  platform: 'linux',
  read: () => undefined,
}
const installation: Installation = {
  program: ['/opt/node 24/bin/node', '/opt/runsheet/dist/cli/runsheet.js'],
  data: '/home/ann/.runsheet',
  features: ['gate', 'evidence', 'digest'],
}

const every = HOST_NAMES.flatMap(name =>
  hosts[name].settings(place, installation).map(settings => ({ name, settings, path: settings.path })),
)
const withEntries = every.filter(({ settings }) => settings.format !== 'own') as {
  name: string
  path: string
  settings: SettingsFile
}[]

/** Containers that hosts use, with entries of others in them. */
const OTHERS = {
  theme: 'dark',
  mcpServers: { other: { command: 'x', env: { KEY: '${SECRET}' } } },
  servers: { other: { command: 'x' } },
  mcp: { other: { type: 'local', command: ['x'] } },
  context_servers: { other: { command: 'x' } },
  permissions: { allow: ['Bash(ls)'], deny: [] },
  hooks: {
    Stop: [{ hooks: [{ type: 'command', command: 'notify-send done' }] }],
    AfterAgent: [{ hooks: [{ type: 'command', command: 'log' }] }],
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'guard' }] }],
  },
}

const JSON_FILES: Readonly<Record<string, string | undefined>> = {
  'no file': undefined,
  'an empty file': '',
  'an empty object': '{}',
  'an empty object on two lines': '{\n}\n',
  'space only': ' \n\n',
  'a comment only': '// nothing yet\n',
  'other entries': `${JSON.stringify(OTHERS, null, 2)}\n`,
  'other entries, with tabs': JSON.stringify(OTHERS, null, '\t'),
  'other entries, on one line': JSON.stringify(OTHERS),
  'other entries, with CRLF': `${JSON.stringify(OTHERS, null, 4).replaceAll('\n', '\r\n')}\r\n`,
  'other entries, with a byte order mark': `\uFEFF${JSON.stringify(OTHERS, null, 2)}`,
  'empty containers': '{ "mcpServers": {}, "servers":{ }, "hooks": {\n}, "permissions": { "allow": [ ] } }',
  'comments and trailing commas': `// top
{
  /* about a */ "a": 1, // one
  "mcpServers": {
    "other": { "command": "x", }, // theirs
    // nothing more
  },
  "hooks": { "Stop": [ /* none */ ], }, // "}"
  "url": "http://x//y", /* end */
}
// bottom
`,
  'odd formatting': '{"a" :1 ,\n\n\n      "mcpServers":\n{ "other"\n:{}}\n  , "hooks":{"Stop"  :  [\n]}}',
}

const TOML_FILES: Readonly<Record<string, string | undefined>> = {
  'no file': undefined,
  'an empty file': '',
  'a key without a line break': 'model = "x"',
  'other tables, with comments':
    '# mine\nmodel = "x" # best\n\n[mcp_servers.other]\ncommand = "y"\nargs = [\n  "a", # first\n]\n\n# the end\n',
  'other tables, with CRLF': '[a]\r\nb = 1\r\n\r\n[[c]]\r\nd = """\r\n[mcp_servers.runsheet]\r\n"""\r\n',
  'a byte order mark': '\uFEFFmodel = "x"\n',
  'a super table': '[mcp_servers]\nother = { command = "y" }\n',
}

const filesFor = ({ format }: Settings): Readonly<Record<string, string | undefined>> =>
  format === 'toml' ? TOML_FILES : JSON_FILES

const cases = withEntries.flatMap(({ name, path, settings }) =>
  Object.entries(filesFor(settings)).map(([what, text]) => ({ name, path, what, settings, text })),
)

const dataOf = ({ format }: Settings, text = ''): unknown => {
  const body = text.replace(/^\uFEFF/, '')
  return format === 'toml' ? readToml(body) : readJson(body)
}
const comments = (text = ''): readonly string[] => text.match(/\/\/ [a-z]+|\/\* [a-z ]+\*\/|# [a-z]+/g) ?? []
const back = (settings: Settings, { after, record }: Change): string | undefined =>
  removal(settings, after, record).after

/** Removal drops empty objects and lists, unless the file is as setup wrote it. */
const hasEmpty = (text = ''): boolean =>
  /"\s*:\s*(\{\s*\}|\[\s*\])/.test(text.replace('"deny": []', '').replace('"deny":[]', ''))

describe.each(cases)('$name, $path, $what', ({ settings, text }) => {
  const change = addition(settings, text, undefined)

  it('[SU2] our entries are added, and all else stays: data, comments, line ends, byte order mark', () => {
    const after = change.after ?? ''
    const { server, hooks = {}, item } = settings
    const data = dataOf(settings, after) as Record<string, never>
    if (server) expect(server.path.reduce<unknown>((node, key) => (node as never)[key], data)).toEqual(server.value)
    for (const [event, group] of Object.entries(hooks)) expect((data['hooks'] as never)[event]).toContainEqual(group)
    if (item) expect((data as unknown as typeof OTHERS).permissions.allow).toContain(item.value)
    expect(after.startsWith('\uFEFF')).toBe(text?.startsWith('\uFEFF') ?? false)
    expect(comments(after)).toEqual(expect.arrayContaining([...comments(text)]))
    if (text?.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n')
  })

  it('a second time changes nothing', () => {
    expect(merge(settings, change.after)).toBe(change.after)
    expect(addition(settings, change.after, change.record)).toEqual({ ...change, before: change.after })
  })

  it('[SU2] removing gives the same bytes', () => {
    expect(back(settings, change)).toBe(text)
  })

  it.skipIf(hasEmpty(text))(
    '[SU2] every other byte is as it was: without our entries, only space in emptied containers differs',
    () => {
      const left = unmerge(settings, change.after ?? '')
      const bare = (each = ''): string =>
        each
          .replaceAll(/\s+(?=[}\]])/g, '')
          .replace(/\{\}\s*$/, '')
          .trim()
      expect(bare(left)).toBe(bare(text))
    },
  )

  it('[SU2] so it does after setup was run with other choices in between', () => {
    const { name } = cases.find(each => each.settings === settings) ?? {}
    const fewer = hosts[name as 'codex'].settings(place, { ...installation, features: ['gate'] })
    const less = fewer.find(({ path }) => path === settings.path)
    if (!less) throw new Error('no settings')
    const second = addition(less, change.after, change.record)
    expect(back(settings, second)).toBe(text)
  })

  it('so does every choice: hooks that are switched off leave what a first setup without them would', () => {
    const { name } = cases.find(each => each.settings === settings) ?? {}
    const none = hosts[name as 'codex']
      .settings(place, { ...installation, features: [] })
      .find(({ path }) => path === settings.path)
    if (!none) throw new Error('no settings')
    expect(addition(none, change.after, change.record).after).toBe(addition(none, text, undefined).after)
  })

  it.skipIf(hasEmpty(text))(
    '[SU2] without a record, or after others wrote the file, our entries go and theirs stay',
    () => {
      const left = unmerge(settings, change.after ?? '')
      expect(left?.replace(/"""[^]*"""/, '')).not.toContain('runsheet')
      expect(comments(left)).toEqual(comments(text))
      if (settings.format !== 'json') return
      const after = change.after?.replace(/^\uFEFF/, '') ?? ''
      const touched = setJson(after, ['written', 'meanwhile'], { by: 'the host' })
      const rest = removal(settings, touched, change.record).after ?? ''
      expect(readJson(rest.replace(/^\uFEFF/, ''))).toEqual({
        ...(dataOf(settings, text) as object | undefined),
        written: { meanwhile: { by: 'the host' } },
      })
    },
  )
})

describe('merging', () => {
  const [claude, claudeSettings] = hosts['claude-code'].settings(place, installation) as [SettingsFile, SettingsFile]
  const [codex] = hosts.codex.settings(place, installation) as [SettingsFile]

  it('a file that cannot be parsed is refused, with the place', () => {
    const of = (settings: Settings, text: string) => () => addition(settings, text, undefined)
    expect(of(claude, '{\n  "a": 1\n  "b": 2\n}')).toThrow(new SettingsError('line 3, column 3: comma expected'))
    expect(of(claude, '[]')).toThrow(new SettingsError('it must be a JSON object, {…}'))
    expect(of(claude, '{"mcpServers": []}')).toThrow(new SettingsError('mcpServers must be an object'))
    expect(of(claudeSettings, '{"hooks": {"Stop": {}}}')).toThrow(new SettingsError('hooks.Stop must be a list'))
    expect(of(codex, 'a = 1\na = 2\n')).toThrow(/^line 2, column 1: /)
    expect(of(codex, 'a = \n')).toThrow(SettingsError)
  })

  it('a form that entries cannot be added to is refused', () => {
    expect(() => addition(codex, 'mcp_servers = { other = { command = "x" } }\n', undefined)).toThrow(SettingsError)
  })

  it('[SU2] an entry of the same name is replaced where it stands, and comes back', () => {
    const text =
      '{\n  "mcpServers": {\n    "runsheet": { "url": "http://x", "env": { "A": "1" } },\n    "z": {}\n  }\n}\n'
    const change = addition(claude, text, undefined)
    expect(Object.keys((readJson(change.after ?? '') as typeof OTHERS).mcpServers)).toEqual(['runsheet', 'z'])
    // What others put into it stays, except for another transport.
    expect(readJson(change.after ?? '')).toEqual({
      mcpServers: { runsheet: { env: { A: '1' }, ...claude.server?.value }, z: {} },
    })
    expect(back(claude, change)).toBe(text)
  })

  it.each([
    '[mcp_servers.runsheet]\nurl = "x"\ncommand = "old" # mine\n\n[mcp_servers.runsheet.tools.plan]\napproval_mode = "approve"\n\n[z]\n',
    '[mcp_servers]\nrunsheet = { command = "old", env = { A = "1" } }\n',
    'mcp_servers.runsheet.command = "old"\n',
  ])('[SU2] in TOML, too, whatever its form: %j', text => {
    const change = addition(codex, text, undefined)
    const { runsheet } = (readToml(change.after ?? '') as { mcp_servers: { runsheet: object } }).mcp_servers
    expect(runsheet).toMatchObject(codex.server?.value ?? {})
    expect(runsheet).not.toHaveProperty('url')
    expect(back(codex, change)).toBe(text)
    expect(unmerge(codex, change.after ?? '')).not.toContain('runsheet')
  })

  it('hooks can be switched off also after others wrote the file', () => {
    const none = hosts['claude-code'].settings(place, { ...installation, features: [] })[1] as SettingsFile
    const { after = '', record } = addition(claudeSettings, '{ "a": 1 }', undefined)
    const without = addition(none, setJson(after, ['b'], 2), record)
    expect(Object.keys((readJson(without.after ?? '') as typeof OTHERS).hooks)).toEqual(['UserPromptSubmit'])
    expect(readJson(removal(none, without.after, without.record).after ?? '')).toEqual({ a: 1, b: 2 })
  })

  it('[SU2] without a record, as in a clone, a file that had nothing else goes, and one with a comment stays', () => {
    const { after = '' } = addition(claudeSettings, undefined, undefined)
    expect(removal(claudeSettings, after, undefined).after).toBeUndefined()
    expect(removal(claudeSettings, `// ours\n${after}`, undefined).after).toBe('// ours\n{}\n')
    expect(removal(claudeSettings, '{}\n', undefined).after).toBe('{}\n')
  })

  it('[SU2] of a group of hooks that others share, only our handler goes', () => {
    const ours = claudeSettings.hooks?.['Stop']?.hooks[0]
    const theirs = { type: 'command', command: 'theirs' }
    const text = JSON.stringify({ hooks: { Stop: [{ hooks: [theirs, ours] }] } }, null, 2)
    expect(readJson(unmerge(claudeSettings, text) ?? '')).toEqual({ hooks: { Stop: [{ hooks: [theirs] }] } })
  })

  it('hooks of an older setup are replaced, and never doubled', () => {
    const before = addition(claudeSettings, undefined, undefined).after ?? ''
    const older = before.replaceAll('/opt/runsheet', '/old/runsheet').replaceAll('"Stop"', '"SubagentStop"')
    const after = merge(claudeSettings, older)
    expect(readJson(after ?? '')).toEqual(readJson(before))
  })

  it('[SU2] a file of our own goes; one of another is neither replaced nor removed', () => {
    const plugin = hosts.opencode.settings(place, installation)[1] as Settings
    const change = addition(plugin, undefined, undefined)
    expect(change.after).toContain('"program":["/opt/node 24/bin/node"')
    expect(back(plugin, change)).toBeUndefined()
    expect(unmerge(plugin, 'export const Mine = 1\n')).toBe('export const Mine = 1\n')
    expect(() => addition(plugin, 'export const Mine = 1\n', undefined)).toThrow(/not a file of ours/)
  })
})

/** JSON texts of any layout: space anywhere, comments, trailing commas. */
const space = fc.constantFrom('', '', ' ', '\n', '\n  ', '\r\n\t', ' // c\n', '/* c */')
const layout = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom('1', '"a // b"', 'null', 'true'), tie('object'), tie('array')),
  array: fc
    .tuple(fc.array(fc.tuple(space, tie('value'), space), { maxLength: 3 }), space)
    .map(([items, end]) => `[${items.map(item => item.join('')).join(',')}${end}]`),
  object: members(tie('value') as fc.Arbitrary<string>, ['a', 'runsheet', 'mcpServers', 'Stop']),
}))
function members(value: fc.Arbitrary<string>, names: readonly string[]): fc.Arbitrary<string> {
  const member = fc.tuple(space, fc.constantFrom(...names), space, space, value, space)
  return fc
    .tuple(fc.uniqueArray(member, { selector: ([, name]) => name, maxLength: 4 }), space, fc.boolean())
    .map(([all, end, hasTrailing]) => {
      const texts = all.map(([before, name, a, b, each, after]) => `${before}"${name}"${a}:${b}${each}${after}`)
      return `{${texts.join(',')}${hasTrailing && texts.length > 0 ? ',' : ''}${end}}`
    })
}
const text = fc
  .tuple(space, members(layout.value as fc.Arbitrary<string>, ['mcpServers', 'hooks', 'permissions', 'a', 'b']), space)
  .map(parts => parts.join(''))

describe('any file', () => {
  it('[SU2] that setup does not refuse gets its bytes back, and keeps its data meanwhile', () => {
    let merged = 0
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(...withEntries.filter(({ settings }) => settings.format === 'json')),
        (text, { settings }) => {
          let change: Change
          try {
            change = addition(settings, text, undefined)
          } catch (error) {
            expect(error).toBeInstanceOf(SettingsError)
            return
          }
          merged += 1
          expect(merge(settings, change.after)).toBe(change.after)
          expect(back(settings, change)).toBe(text)
          const left = unmerge(settings, change.after ?? '') ?? ''
          const before = dataOf(settings, text) as Record<string, object>
          if (!/[{[](\s|\/\/.*|\/\*.*\*\/)*[}\]]/.test(text) && !JSON.stringify(before).includes('runsheet'))
            expect(isDeepStrictEqual(readJson(left) ?? {}, before)).toBe(true)
        },
      ),
      { numRuns: process.env['LONG'] ? 5_000 : 500 },
    )
    expect(merged).toBeGreaterThan(100)
  })
})
