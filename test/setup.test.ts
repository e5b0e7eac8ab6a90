import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../src/client/client.ts'
import { BUILT, runProcess, whyNotHeldBack } from './support/children.ts'
import { SetupScene } from './support/setup-scene.ts'

/** Most tests share a page that runs already. */
let served: SetupScene
let scene: SetupScene
beforeAll(async () => {
  served = new SetupScene()
  await served.start(['serve', '--data', served.data]).line(line => line.startsWith('Runsheet is ready'))
})
afterAll(() => served.end())
beforeEach(() => {
  scene = new SetupScene(served.data)
})
afterEach(() => scene.end())

const SECRET = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789'
const CLAUDE = `{\n  "mcpServers": {\n    "other": { "env": { "API_KEY": "${SECRET}" } }\n  }\n}\n`

/** Those with each kind of file; src/setup tests all. */
const HOSTS = ['claude-code', 'codex', 'gemini', 'opencode', 'zed']

const inTerminal = it.skipIf(process.platform !== 'linux')

describe('runsheet setup', () => {
  it('[SU1] shows what it would change and, with nobody to ask, writes nothing and says how', async () => {
    scene.write('.claude.json', CLAUDE)
    const before = scene.tree()
    const { code, out, err } = await scene.run(['setup', 'claude-code'])
    expect(code).toBe(1)
    expect(err).toMatch(
      /^runsheet: nothing was written: there is no terminal to ask in\. To .*: .* setup claude-code --yes\n$/,
    )
    expect(out).toContain(`${scene.home}/.claude.json\n`)
    expect(out).toContain('+     "runsheet": {')
    expect(out).toContain('+   "permissions": { "allow": ["mcp__runsheet"] }')
    expect(out).not.toContain(SECRET)
    expect(scene.tree()).toEqual(before)
  })

  it('[SU1] --print shows it, writes nothing, and starts nothing', async () => {
    const { code, out } = await scene.run(['setup', 'gemini', '--print'])
    expect(code).toBe(0)
    expect(out).toContain(`${scene.home}/.gemini/settings.json (new)`)
    expect(scene.tree()).toEqual({ home: 'folder 755', project: 'folder 755' })
  })

  inTerminal('[SU1] at a terminal it asks: yes writes, anything else does not', async () => {
    const no = await scene.atTerminal(['setup', 'cursor'], '')
    expect(no).toMatchObject({ code: 1, shown: expect.stringContaining('nothing was written') })
    expect(existsSync(join(scene.home, '.cursor'))).toBe(false)
    const yes = await scene.atTerminal(['setup', 'cursor'], 'y')
    expect(yes).toMatchObject({ code: 0, shown: expect.stringContaining('Written.') })
    expect(scene.json('.cursor/mcp.json')).toHaveProperty('mcpServers.runsheet')
  })

  it('[SU2] twice is as once, no token is in a file, and --remove leaves every file and folder as it was', async () => {
    scene.write('.claude.json', CLAUDE, 0o600)
    scene.write('.codex/config.toml', '# mine\nmodel = "x"', 0o640)
    scene.write('.config/zed/settings.json', '// Zed\n{\n  "theme": "One", // dark\n}\n')
    scene.write('.config/opencode/opencode.jsonc', '{ "share": "disabled", }')
    const before = scene.tree()
    for (const host of HOSTS) expect(await scene.run(['setup', host, '--yes'])).toMatchObject({ code: 0, err: '' })
    const after = scene.tree()
    for (const host of HOSTS) {
      const { code, out } = await scene.run(['setup', host, '--yes'])
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('are as they should be') })
    }
    expect(scene.tree()).toEqual(after)
    const secrets = ['person-token', 'agent-token', 'opencode-secret'].map(name => join(scene.data, name))
    for (const secret of secrets) {
      expect(Object.values(after).join('\n')).not.toContain(readFileSync(secret, 'utf8').trim())
      expect(statSync(secret).mode & 0o777).toBe(0o600)
    }
    for (const host of HOSTS) expect((await scene.run(['setup', host, '--remove', '--yes'])).code).toBe(0)
    expect(scene.tree()).toEqual(before)
    expect((await scene.run(['setup', 'codex', '--remove'])).out).toContain('Runsheet is not in the settings of Codex')
  })

  it('[SU2] what the host wrote into the file meanwhile stays', async () => {
    await scene.run(['setup', 'claude-code', '--yes'])
    const file = join(scene.home, '.claude.json')
    writeFileSync(file, JSON.stringify({ ...(scene.json('.claude.json') as object), numStartups: 4 }, null, 2))
    await scene.run(['setup', 'claude-code', '--remove', '--yes'])
    expect(scene.json('.claude.json')).toEqual({ numStartups: 4 })
    expect(existsSync(join(scene.home, '.claude'))).toBe(false)
  })

  it('[SU2] an entry of the person’s own comes back, and setup keeps no copy of the lines around it', async () => {
    const mine = '[mcp_servers.runsheet]\ncommand = "mine"\n\n[mcp_servers.runsheet.env]\nKEY = "1"\n'
    scene.write('.codex/config.toml', mine)
    scene.write('.claude.json', JSON.stringify({ a: 1, ...(JSON.parse(CLAUDE) as object), b: 2 }))
    for (const host of ['codex', 'claude-code']) await scene.run(['setup', host, '--yes'])
    expect(scene.read('.config/runsheet/setup.json')).not.toContain(SECRET)
    await scene.run(['setup', 'codex', '--remove', '--yes'])
    expect(scene.read('.codex/config.toml')).toBe(mine)
  })

  it('the last removal leaves nothing', async () => {
    const before = scene.tree()
    const together = (...more: string[]) => Promise.all(HOSTS.map(host => scene.run(['setup', host, '--yes', ...more])))
    expect((await together()).map(({ code, err }) => ({ code, err }))).toEqual(HOSTS.map(() => ({ code: 0, err: '' })))
    expect(Object.keys(scene.json('.config/runsheet/setup.json') as object)).toHaveLength(8)
    await together('--remove')
    expect(scene.tree()).toEqual(before)
  })

  it('in a project, what setup leaves can be committed as it is: git sees neither tokens nor plans', async () => {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', scene.project, ...args], { encoding: 'utf8' }).trim()
    git('init', '-q')
    const env = { RUNSHEET_DATA: '' }
    const { code, out } = await scene.run(['setup', 'opencode', '--scope', 'project', '--yes'], { env })
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Plans are in .runsheet in the project;') })
    expect(existsSync(join(scene.project, '.runsheet/person-token'))).toBe(true)
    git('add', '-A')
    expect(git('ls-files').split('\n')).toEqual(['.opencode/plugin/runsheet.js', 'opencode.json'])
  })

  it('where a folder for plans was there before and git would take it, setup says so', async () => {
    mkdirSync(join(scene.project, '.runsheet'))
    const { out } = await scene.run(['setup', 'zed', '--scope', 'project', '--yes'], { env: { RUNSHEET_DATA: '' } })
    expect(out).toContain('Plans are in .runsheet in the project: keep that out of git.')
  })

  it('[SU2] an opencode.jsonc that appears later does not hide our entry', async () => {
    await scene.run(['setup', 'opencode', '--yes'])
    const theirs = '{ "theme": "x" }\n'
    scene.write('.config/opencode/opencode.jsonc', theirs)
    expect((await scene.run(['setup', 'opencode', '--yes'])).out).toContain('are as they should be')
    await scene.run(['setup', 'opencode', '--yes', '--remove'])
    expect(readdirSync(join(scene.home, '.config/opencode'))).toEqual(['opencode.jsonc'])
    expect(scene.read('.config/opencode/opencode.jsonc')).toBe(theirs)
  })

  it('[SU2] nor does a file that was renamed', async () => {
    const before = scene.tree()
    await scene.run(['setup', 'opencode', '--yes'])
    const file = join(scene.home, '.config/opencode/opencode.json')
    renameSync(file, `${file}c`)
    expect((await scene.run(['setup', 'opencode', '--yes'])).out).toContain('are as they should be')
    await scene.run(['setup', 'opencode', '--yes', '--remove'])
    expect(scene.tree()).toEqual(before)
  })

  it('nothing is written if the data folder cannot be used, or a folder is a file', async () => {
    scene.write('.gemini', '')
    const data = scene.write('plans', '')
    const before = scene.tree()
    const noData = await scene.run(['setup', 'qwen', '--yes', '--data', data])
    expect(noData.out).not.toContain('Written.')
    expect(noData).toMatchObject({
      code: 1,
      err: `runsheet: cannot use the data folder ${data}: it is not a folder. Choose another with --data. Nothing was changed.\n`,
    })
    expect(await scene.run(['setup', 'gemini', '--yes'])).toMatchObject({
      code: 1,
      err: `runsheet: cannot write ${scene.home}/.gemini/settings.json: it is not a folder. Nothing was changed.\n`,
    })
    expect(scene.tree()).toEqual(before)
  })

  it('a file whose form cannot be edited safely is refused', async () => {
    scene.write('.codex/config.toml', 'mcp_servers = { files = { command = "true" } }\n')
    const before = scene.tree()
    const refused = await scene.run(['setup', 'codex', '--yes'])
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Add it by hand. Nothing was changed.') })
    expect(scene.tree()).toEqual(before)
  })

  it('[SU1] the lines around a change keep their indentation', async () => {
    scene.write('.claude.json', '{\n  "a": {\n    "b": 1\n  }\n}\n')
    const { out } = await scene.run(['setup', 'claude-code', '--print'])
    expect(out).toContain('\n      "b": 1\n')
  })

  it('a reader that closes the pipe ends the output quietly, and not the work', async () => {
    const words = [process.execPath, join(import.meta.dirname, '..', BUILT), 'setup', 'zed', '--yes']
    const command = `{ ${words.map(word => `'${word}'`).join(' ')}; echo "ended $?" >&2; } | true`
    const child = runProcess(['bash', '-c', command], { cwd: scene.project, env: { ...process.env, ...scene.env } })
    const { stderr } = await child.ended
    expect(stderr).toBe('ended 0\n')
    expect(existsSync(join(scene.home, '.config/zed/settings.json'))).toBe(true)
  })

  it('one file that cannot be parsed, and no file is touched', async () => {
    scene.write('.claude.json', CLAUDE)
    scene.write('.claude/settings.json', '{ "hooks": ')
    const before = scene.tree()
    const { code, err } = await scene.run(['setup', 'claude-code', '--yes'])
    expect(code).toBe(1)
    expect(err).toMatch(
      /^runsheet: cannot use .*\/\.claude\/settings\.json: line 1, column \d+: .*\. Nothing was changed\.\n$/,
    )
    scene.write(
      '.claude/settings.json',
      '\xff\xfe{}'.replace(/./g, char => char),
    )
    writeFileSync(join(scene.home, '.claude/settings.json'), Buffer.from([0xff, 0xfe, 0x7b, 0x00]))
    expect((await scene.run(['setup', 'claude-code', '--yes'])).err).toContain(
      'it is not UTF-8 text. Nothing was changed.',
    )
    expect({ ...scene.tree(), 'home/.claude/settings.json': '' }).toEqual({
      ...before,
      'home/.claude/settings.json': '',
    })
  })

  it('links stay links, and files keep their mode', async () => {
    const target = scene.write('dotfiles/claude.json', '{}', 0o640)
    symlinkSync(target, join(scene.home, '.claude.json'))
    mkdirSync(join(scene.home, '.codex'))
    symlinkSync('../dotfiles/codex.toml', join(scene.home, '.codex/config.toml'))
    await scene.run(['setup', 'claude-code', '--yes'])
    await scene.run(['setup', 'codex', '--yes'])
    expect(scene.tree()).toMatchObject({
      'home/.claude.json': `link ${target}`,
      'home/.codex/config.toml': 'link ../dotfiles/codex.toml',
      'home/dotfiles/claude.json': expect.stringMatching(/^640 \{\n {2}"mcpServers"/),
      'home/dotfiles/codex.toml': expect.stringMatching(/^600 \[mcp_servers\.runsheet\]/),
    })
    expect(readdirSync(join(scene.home, 'dotfiles'))).toEqual(['claude.json', 'codex.toml'])
  })

  it.skipIf(whyNotHeldBack !== undefined)('where one file cannot be written, none is', async () => {
    scene.write('.claude.json', '{}')
    scene.write('.claude/settings.json', '{}', 0o444)
    const before = scene.tree()
    const { code, err } = await scene.run(['setup', 'claude-code', '--yes'], { heldBack: true })
    expect(code).toBe(1)
    expect(err).toMatch(/^runsheet: cannot write .*settings\.json: permission denied\. Nothing was changed\.\n$/)
    expect(scene.tree()).toEqual(before)
  })

  it.skipIf(whyNotHeldBack !== undefined)('nor where setup cannot keep its record', async () => {
    mkdirSync(join(scene.home, '.config'), { mode: 0o555 })
    const before = scene.tree()
    const { code, err } = await scene.run(['setup', 'gemini', '--yes'], { heldBack: true })
    expect(code).toBe(1)
    expect(err).toMatch(/^runsheet: cannot write .*: permission denied\. Nothing was changed\.\n$/)
    expect(scene.tree()).toEqual(before)
  })

  it('a copy that npx made is not written into settings', async () => {
    const { code, err } = await scene.run(['setup', 'gemini', '--yes'], { file: npxCopy() })
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('npm install -g ./runsheet-') })
    expect(existsSync(join(scene.home, '.gemini'))).toBe(false)
  })

  it('a project gets nothing of this machine, and its own data folder', async () => {
    for (const host of ['claude-code', 'codex', 'opencode', 'vscode']) {
      expect((await scene.run(['setup', host, '--scope', 'project', '--yes'])).code).toBe(0)
    }
    const files = Object.entries(scene.tree(scene.project))
    expect(files.map(([name]) => name)).toContain('.vscode/mcp.json')
    for (const [, text] of files) {
      expect(text).not.toContain(scene.folder)
      expect(text).not.toContain(process.execPath)
    }
    expect(existsSync(join(scene.project, '.runsheet/port'))).toBe(true)
    const { out } = await scene.run(['setup', 'codex', '--scope', 'project', '--yes'])
    expect(out).toMatch(
      /on the PATH: in a clone of Runsheet, npm ci && npm pack && npm install -g \.\/runsheet-.*\.tgz\./,
    )
    const absolute = await scene.run(['setup', 'codex', '--scope', 'project', '--data', '/srv/plans', '--yes'])
    expect(absolute).toMatchObject({ code: 1, err: expect.stringContaining('--data must be a relative path') })
  })

  it('switches leave out their hooks, and take out those of an earlier run, but for what tells the session', async () => {
    await scene.run(['setup', 'qwen', '--yes'])
    await scene.run(['setup', 'qwen', '--yes', '--no-gate', '--no-digest'])
    type Qwen = { hooks: object; mcpServers: { runsheet: { args: string[] } } }
    const { hooks, mcpServers } = scene.json('.qwen/settings.json') as Qwen
    expect(Object.keys(hooks)).toEqual(['UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure'])
    expect(mcpServers.runsheet.args.slice(-3)).toEqual(['--hooks', '--no-gate', '--no-digest'])
    const none = await scene.run(['setup', 'qwen', '--yes', '--no-gate', '--no-evidence', '--no-digest'])
    expect(none).toMatchObject({ code: 0, err: '' })
    const left = scene.json('.qwen/settings.json') as Qwen
    expect(Object.keys(left.hooks)).toEqual(['UserPromptSubmit'])
    expect(left.mcpServers.runsheet.args.slice(-4)).toEqual(['--hooks', '--no-gate', '--no-evidence', '--no-digest'])
    expect((await scene.run(['setup', 'qwen', '--yes'])).out).toContain('without gate and evidence and digest')
    await scene.run(['setup', 'qwen', '--remove', '--yes'])
    expect(existsSync(join(scene.home, '.qwen'))).toBe(false)
  })

  it('what an earlier setup switched off stays off, and it says so and how to switch it on', async () => {
    await scene.run(['setup', 'gemini', '--yes', '--no-gate'])
    const before = scene.read('.gemini/settings.json')
    const { out } = await scene.run(['setup', 'gemini', '--yes'])
    expect(out).toContain('As before, without gate. To switch on: --gate')
    expect(scene.read('.gemini/settings.json')).toBe(before)
    await scene.run(['setup', 'gemini', '--yes', '--gate'])
    expect(scene.json('.gemini/settings.json')).toHaveProperty('hooks.AfterAgent')
  })

  it('so does the data folder, and an entry of the person’s own says nothing about hooks', async () => {
    const env = { RUNSHEET_DATA: '' }
    scene.write('.qwen/settings.json', '{ "mcpServers": { "runsheet": { "command": "runsheet", "args": ["mcp"] } } }')
    await scene.run(['setup', 'qwen', '--yes', '--data', scene.data], { env })
    expect(scene.json('.qwen/settings.json')).toHaveProperty('hooks.Stop')
    expect((await scene.run(['setup', 'qwen', '--yes'], { env })).out).toContain('are as they should be')
  })

  it('the server that a host starts in a subfolder uses the data folder of the project', async () => {
    const below = join(scene.project, 'packages', 'a')
    execFileSync('git', ['init', '-q', scene.project])
    mkdirSync(join(scene.project, '.runsheet'), { mode: 0o700 })
    mkdirSync(below, { recursive: true })
    const server = scene.start(['mcp', '--hooks'], { cwd: below, env: { RUNSHEET_DATA: '' } })
    await expect.poll(() => existsSync(join(scene.project, '.runsheet/runsheet.db'))).toBe(true)
    server.process.stdin?.end()
    await server.ended
    expect(readdirSync(below)).toEqual([])
  })

  it('starts the page, fixes its port, and signs a browser in, once', async () => {
    scene = new SetupScene()
    const first = await scene.run(['setup', 'zed', '--yes'])
    const [, url = '', code = ''] =
      /^Open this once.*: (http:\/\/127\.0\.0\.1:\d+\/)#code=([\w-]+)$/m.exec(first.out) ?? []
    const { token } = await createClient({ url }).login(code)
    expect(await createClient({ url, token }).sessions()).toMatchObject({ sessions: [] })
    const again = await scene.run(['setup', 'cursor', '--yes'])
    expect(again.out).toContain(`The page: ${url} (for a sign-in link: `)
    expect(again.out).not.toContain('#code=')
    await scene.endPage()
    // Whoever starts it next, it is where the browser is signed in.
    const next = scene.start(['serve', '--data', scene.data], { env: { RUNSHEET_PORT: '' } })
    expect(await next.line(line => line.startsWith('Runsheet is ready'))).toContain(url)
    next.process.kill('SIGTERM')
    await next.ended
    const third = await scene.run(['setup', 'zed', '--yes'], { env: { RUNSHEET_PORT: '' } })
    expect(third.out).toContain(`The page: ${url}`)
  })

  it('where there is a display, the browser is opened with the link', async () => {
    scene = new SetupScene()
    const opened = join(scene.folder, 'opened')
    const browser = join(scene.folder, 'browser')
    writeFileSync(browser, `#!/bin/sh\necho "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`)
    chmodSync(browser, 0o755)
    const env = { DISPLAY: ':9', BROWSER: browser, SSH_CONNECTION: '', SSH_CLIENT: '', SSH_TTY: '', CI: '' }
    const { out } = await scene.run(['setup', 'zed', '--yes'], { env })
    expect(out).not.toContain('#code=')
    await expect.poll(() => existsSync(opened)).toBe(true)
    expect(readFileSync(opened, 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+\n$/)
  })
})

/** The program in a folder like those that npx makes. */
function npxCopy(): string {
  const root = join(import.meta.dirname, '..')
  const copy = join(scene.folder, '_npx/1234/node_modules/runsheet')
  for (const each of ['package.json', 'dist/cli', 'dist/hosts'])
    cpSync(join(root, each), join(copy, each), { recursive: true })
  return join(relative(root, copy), BUILT)
}
