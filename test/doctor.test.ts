import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
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
    expect(out).toMatch(/ok {5}.*\/\.gemini\/settings\.json is as setup writes it$/m)
    expect(out).toMatch(
      /ok {5}the server, version [\d.]+, answers in [\d.]+ s, with 4 tools: plan, update, tasks, await_review$/m,
    )
    expect(out).toMatch(/ok {5}data folder .*, page http/)
    expect(out).not.toContain('WRONG')
    expect(code).toBe(0)
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
    }
    expect(await doctor(text.replaceAll(process.execPath, '/nowhere/node'))).toMatch(
      /WRONG {2}the server does not start: .*ENOENT\n +Try it: .*\n +If the program was moved, .* setup qwen\.$/m,
    )
    const several = text
      .replace('"Stop"', '"SubagentStop"')
      .replace('"mcp"', '"mcp", "--no-such"')
      .replace('"trust"', '"disabled": true, "trust"')
    const found = await doctor(several)
    expect(found).toContain('switched off in Qwen Code')
    expect(found).toMatch(/the server does not start: runsheet: unknown option: --no-such.*\n +Try it: /)
    expect(found).toMatch(/WRONG {2}.* is not as setup writes it\n +See what differs, and write it anew: .* setup qwen/)
    expect(await doctor('{')).toMatch(/cannot use .*settings\.json: line 1, .*\n +Correct the file\.$/)
  })

  it('[SU12] passes on what the server says: storage that cannot be opened, and what others may read', async () => {
    const data = join(scene.folder, 'damaged')
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(join(data, 'runsheet.db'), 'no database')
    scene.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { runsheet: serverOf(data) } }))
    const broken = await scene.run(['doctor', 'cursor'])
    expect(broken).toMatchObject({
      code: 1,
      out: expect.stringMatching(/WRONG {2}cannot open SQLite: .*\n +Try it/) as string,
    })
    await scene.run(['setup', 'cursor', '--yes'])
    chmodSync(scene.data, 0o755)
    const { out } = await scene.run(['doctor', 'cursor'])
    chmodSync(scene.data, 0o700)
    expect(out).toMatch(/note {3}other users of this machine may read .* Run: chmod go= /)
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
    expect(out).toContain('is set up in both scopes')
    expect(out).toContain('not tried; written as its documentation says')
    expect(code).toBe(1)
  })
})
