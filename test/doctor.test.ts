import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BUILT } from './support/children.ts'
import { SetupScene } from './support/setup-scene.ts'

/** A page that runs already. */
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

const serverOf = (data: string): object => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../${BUILT}`, import.meta.url)), 'mcp', '--data', data],
})

describe('runsheet doctor', () => {
  it('[SU12] starts the server as the host would, and says that all is well', async () => {
    await scene.run(['setup', 'gemini', '--yes'])
    const { code, out } = await scene.run(['doctor', 'gemini'])
    expect(out).toMatch(/^Gemini CLI \(user scope\): .*\/\.gemini\/settings\.json$/m)
    expect(out).toMatch(/ok {5}the server answers in [\d.]+ s, with 4 tools: plan, update, tasks, await_review$/m)
    expect(out).toMatch(/ok {5}hooks: SessionStart, BeforeAgent, AfterTool, AfterAgent$/m)
    expect(out).toMatch(/ok {5}data folder/)
    expect(out).toMatch(/ok {5}page http/)
    expect(out).not.toContain('WRONG')
    expect(code).toBe(0)
  })

  it('[SU12] with gate, evidence and digest off, it wants just the hook that tells the session', async () => {
    await scene.run(['setup', 'gemini', '--yes', '--no-gate', '--no-evidence', '--no-digest'])
    const { code, out } = await scene.run(['doctor', 'gemini'])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/ok {5}hooks: BeforeAgent$/m) })
    const { hooks, ...rest } = scene.json('.gemini/settings.json') as { hooks: object }
    scene.write('.gemini/settings.json', JSON.stringify(rest))
    expect(hooks).toHaveProperty('BeforeAgent')
    const without = await scene.run(['doctor', 'gemini'])
    expect({ code: without.code, out: without.out }).toEqual({
      code: 1,
      out: expect.stringMatching(/WRONG {2}hooks in .* are missing or differ: BeforeAgent\n +Write them anew: /),
    })
  })

  it('[SU12] says for each problem what to do, and exits with 1', async () => {
    await scene.run(['setup', 'qwen', '--yes'])
    const file = '.qwen/settings.json'
    const text = scene.read(file)
    const doctor = async (changed: string) => {
      scene.write(file, changed)
      const { code, out } = await scene.run(['doctor', 'qwen'])
      expect(code).toBe(1)
      return out
        .split('\n')
        .filter((line, index, all) => /WRONG/.test(`${line}${all[index - 1]}`))
        .join('\n')
    }
    expect(await doctor(text.replaceAll(process.execPath, '/nowhere/node'))).toMatch(
      /\/nowhere\/node is not there\n +Write the settings anew: .* setup qwen\.$/,
    )
    const several = text
      .replace('"Stop"', '"SubagentStop"')
      .replace('"mcp"', '"mcp", "--no-such"')
      .replace('"trust"', '"disabled": true, "trust"')
    const found = await doctor(several)
    expect(found).toContain('switched off in Qwen Code')
    expect(found).toMatch(/the server does not start: runsheet: unknown option: --no-such.*\n +Try it: /)
    expect(found).toMatch(/missing or differ: Stop, SubagentStop\n +Write them anew: /)
    expect(await doctor('{')).toMatch(/cannot use .*settings\.json: line 1, .*\n +Mend the file\.$/)
    chmodSync(scene.data, 0o755)
    expect(await doctor(text)).toMatch(/other users of this machine may read .*\n +Run: chmod go= /)
    chmodSync(scene.data, 0o700)
  })

  it("names the model of the page's settings, and a settings file that cannot be used", async () => {
    await scene.run(['setup', 'zed', '--yes'])
    const file = join(scene.home, '.config/runsheet/settings.json')
    mkdirSync(join(scene.home, '.config/runsheet'), { recursive: true })
    const settings = { model: 'openai:gpt-5', key: { value: 'sk-a-key-of-mine', endpoint: 'openai' } }
    writeFileSync(file, JSON.stringify({ format: 1, settings }), { mode: 0o600 })
    const { out } = await scene.run(['doctor', 'zed'])
    expect(out).toContain("note   the page's settings name the model openai:gpt-5, with a key of their own")
    expect(out).not.toContain('sk-a-key')
    writeFileSync(file, '{')
    const broken = await scene.run(['doctor', 'zed'])
    expect(broken.out).toMatch(
      /WRONG {2}.*settings\.json cannot be used: it is not valid JSON.*\n +Delete it, and set the settings again on the page\.$/m,
    )
    expect(broken.code).toBe(1)
    rmSync(file)
  })

  it('[SU12] says that Codex does not start without the program of a required server', async () => {
    await scene.run(['setup', 'codex', '--yes'])
    scene.write('.codex/config.toml', scene.read('.codex/config.toml').replace(process.execPath, '/nowhere/node'))
    const { code, out } = await scene.run(['doctor', 'codex'])
    expect(code).toBe(1)
    expect(out).toMatch(
      /nowhere\/node is not there\n +Write the settings anew: .* setup codex\. Codex does not start until then/,
    )
  })

  it('[SU12] says that you have not accepted the hooks of Codex', async () => {
    await scene.run(['setup', 'codex', '--yes'])
    const { code, out } = await scene.run(['doctor', 'codex'])
    expect(code).toBe(1)
    expect(out).toMatch(/you have not accepted the hooks .*Stop.*\n +Start codex, type \/hooks/)
  })

  it('[SU12] says that the server is gone while hooks are there, and which setting keeps them from running', async () => {
    await scene.run(['setup', 'claude-code', '--yes'])
    const entry = scene.read('.claude.json')
    scene.write('.claude.json', '{}')
    const gone = await scene.run(['doctor'])
    expect(gone.code).toBe(1)
    expect(gone.out).toMatch(
      /the entry of the server is gone, but there are hooks\n +Write it anew: .* setup claude-code\./,
    )
    scene.write('.claude.json', entry)
    const settings = scene.json('.claude/settings.json') as { permissions: object }
    const permissions = { ...settings.permissions, deny: ['mcp__runsheet'] }
    scene.write('.claude/settings.json', JSON.stringify({ ...settings, permissions, disableAllHooks: true }))
    const { code, out } = await scene.run(['doctor', 'claude-code'])
    expect(code).toBe(1)
    expect(out).toMatch(/WRONG {2}the hooks do not run: see disableAllHooks in .*\/\.claude\/settings\.json/)
    expect(out).toMatch(/WRONG {2}the agent cannot use the tools: see permissions\.deny in /)
  })

  it('[SU12] says that storage cannot be opened, although the server answers', async () => {
    const data = join(scene.folder, 'damaged')
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(join(data, 'runsheet.db'), 'no database')
    scene.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { runsheet: serverOf(data) } }))
    const { code, out } = await scene.run(['doctor', 'cursor'])
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(/WRONG {2}cannot open SQLite: .*\n +Mend that/),
    })
  })

  it("[SU12] says that OpenCode's secret cannot be used", async () => {
    await scene.run(['setup', 'opencode', '--yes'])
    const secret = join(scene.data, 'opencode-secret')
    writeFileSync(secret, '')
    const { code, out } = await scene.run(['doctor', 'opencode'])
    rmSync(secret)
    expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/opencode-secret .*\n +Delete it: OpenCode/) })
  })

  it('[SU12] says that the page is not where the browser is signed in', async () => {
    await scene.run(['setup', 'zed', '--yes'])
    writeFileSync(join(scene.data, 'port'), '1\n')
    const { code, out } = await scene.run(['doctor', 'zed'])
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('the page is not on its port 1') })
  })

  it('without a host it looks at all that are set up, in both scopes', async () => {
    const none = await scene.run(['doctor'])
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('is not set up for any host. To do so: ') })
    await scene.run(['setup', 'cursor', '--yes'])
    await scene.run(['setup', 'vscode', '--yes'])
    await scene.run(['setup', 'vscode', '--scope', 'project', '--yes'])
    const { code, out } = await scene.run(['doctor'])
    expect(out.match(/^\w.*scope\)/gm)).toEqual([
      'Cursor (user scope)',
      'VS Code (user scope)',
      'VS Code (project scope)',
    ])
    expect(out).toContain('both scopes are set up')
    expect(out).toContain('not tried; written as its documentation says')
    expect(code).toBe(1)
  })
})
