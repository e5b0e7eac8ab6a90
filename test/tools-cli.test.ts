import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { McpServers } from '../src/engine/turn/mcp-tools.ts'
import { runHere } from './support/in-process.ts'
import { scratchFolder } from './support/scratch.ts'

function place() {
  const root = scratchFolder()
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const config = join(root, 'config')
  const folder = join(root, 'My notes')
  mkdirSync(folder, { recursive: true })
  const file = join(config, 'runsheet', 'runsheet.json')
  const run = async (...args: readonly string[]) => {
    const { code, err, out } = await runHere(['tools', ...args], { env: { XDG_CONFIG_HOME: config }, cwd: root })
    return { code, stderr: err, stdout: out }
  }
  return { root, config, folder, file, run, read: () => JSON.parse(readFileSync(file, 'utf8')) as unknown }
}

describe('runsheet tools', () => {
  it('adds a folder, a command and a URL to the own settings file, which only its owner reads; lists and removes them', async () => {
    const at = place()
    expect(await at.run('list')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('tools add --folder') as string,
    })
    const added = await at.run('add', '--folder', 'My notes')
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(added.stdout).toContain(`Added My-notes to ${at.file}.`)
    expect(statSync(at.file).mode & 0o777).toBe(0o600)
    await at.run('add', 'github', '--env', 'TOKEN=abc', '--', 'npx', '-y', 'a server', '--flag')
    await at.run(
      'add',
      'search',
      '--url',
      'https://mcp.example.com/mcp',
      '--header',
      'authorization: Bearer x',
      '--ask',
      'none',
    )
    expect(at.read()).toEqual({
      mcpServers: {
        'My-notes': {
          command: expect.any(String) as string,
          args: [expect.stringContaining('runsheet') as string, 'folder', at.folder],
          ask: 'changes',
        },
        github: { command: 'npx', args: ['-y', 'a server', '--flag'], env: { TOKEN: 'abc' }, ask: 'all' },
        search: { url: 'https://mcp.example.com/mcp', headers: { authorization: 'Bearer x' }, ask: 'none' },
      },
    })
    const { stdout } = await at.run('list')
    expect(stdout).toMatch(/github +ask: all +npx$/m)
    expect(stdout).not.toContain('abc')
    expect(await at.run('remove', 'github')).toMatchObject({ code: 0 })
    expect(Object.keys((at.read() as { mcpServers: object }).mcpServers)).toEqual(['My-notes', 'search'])
  })

  it('writes each server on a line of its own, as a person would', async () => {
    const at = place()
    await at.run('add', 'far', '--url', 'https://far.example.com/mcp')
    await at.run('add', 'near', '--', 'npx', 'near')
    const far = '    "far": { "url": "https://far.example.com/mcp", "ask": "all" }'
    const near = '    "near": { "command": "npx", "args": ["near"], "ask": "all" }'
    const lines = ['{', '  "mcpServers": {', `${far},`, near, '  }', '}', '']
    expect(readFileSync(at.file, 'utf8').split('\n')).toEqual(lines)
    await at.run('remove', 'far')
    await at.run('remove', 'near')
    await at.run('add', 'far', '--url', 'https://far.example.com/mcp')
    await at.run('add', 'near', '--', 'npx', 'near')
    expect(readFileSync(at.file, 'utf8').split('\n')).toEqual(lines)
  })

  it('leaves every other byte of the file alone, and a file that is wrong as it is', async () => {
    const at = place()
    mkdirSync(join(at.config, 'runsheet'), { recursive: true })
    const text = '{\n    "policy": { "gate":   false }\n}\n'
    writeFileSync(at.file, text)
    await at.run('add', 'far', '--url', 'https://mcp.example.com/mcp')
    expect(readFileSync(at.file, 'utf8')).toContain('"policy": { "gate":   false }')
    await at.run('remove', 'far')
    writeFileSync(at.file, '{ "policy": ')
    const wrong = await at.run('add', 'far', '--url', 'https://mcp.example.com/mcp')
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toMatch(/^runsheet: .*is not valid JSON/)
    expect(readFileSync(at.file, 'utf8')).toBe('{ "policy": ')
  })

  it.each([
    [['add'], /say what to add/],
    [['add', 'a name', '--url', 'https://example.com'], /a name has 1 to 32 letters/],
    [['add', 'x', '--url', 'nonsense'], /is not a URL/],
    [['add', '--folder', '/nowhere/at/all'], /is not a folder/],
    [['add', 'x', '--env', 'nothing', '--', 'run'], /expected --env NAME=VALUE/],
    [['remove', 'nothing'], /there is no nothing/],
  ])('[CL5] %j is refused in one line', async (args, message) => {
    const { code, stderr } = await place().run(...args)
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('a name that is taken is replaced only if that is said', async () => {
    const at = place()
    await at.run('add', 'far', '--url', 'https://one.example.com/')
    expect((await at.run('add', 'far', '--url', 'https://two.example.com/')).stderr).toMatch(/add --replace/)
    expect((await at.run('add', 'far', '--url', 'https://two.example.com/', '--replace')).code).toBe(0)
    expect(at.read()).toMatchObject({ mcpServers: { far: { url: 'https://two.example.com/' } } })
  })

  it('the folder server reads, lists and writes in its folder, and nowhere else', async () => {
    const at = place()
    writeFileSync(join(at.root, 'secret.txt'), 'secret')
    symlinkSync(join(at.root, 'secret.txt'), join(at.folder, 'link.txt'))
    symlinkSync(at.root, join(at.folder, 'up'))
    symlinkSync(join(at.root, 'new.txt'), join(at.folder, 'dangling.txt'))
    writeFileSync(join(at.folder, 'a.txt'), 'A')
    await at.run('add', 'notes', '--folder', at.folder)
    const { mcpServers } = at.read() as { mcpServers: { notes: { command: string; args: string[] } } }
    const servers = new McpServers({ servers: mcpServers, version: '0', onError: () => {} })
    onTestFinished(() => servers.close())
    const tools = new Map((await servers.list()).map(tool => [tool.from.tool, tool]))
    expect([...tools].map(([name, { from }]) => [name, from.isReadOnly])).toEqual([
      ['list_files', true],
      ['read_file', true],
      ['write_file', false],
    ])
    const call = (name: string, input: unknown) =>
      tools
        .get(name)
        ?.call(input, new AbortController().signal, { toolCallId: 'c', idempotencyKey: 'k' })
        .catch((error: unknown) => `refused: ${(error as Error).message}`)
    expect(await call('read_file', { path: 'a.txt' })).toBe('A')
    expect(await call('list_files', {})).toContain('a.txt')
    expect(await call('write_file', { path: 'deep/b.txt', text: 'B' })).toContain('Wrote deep/b.txt')
    expect(readFileSync(join(at.folder, 'deep', 'b.txt'), 'utf8')).toBe('B')
    for (const path of ['../secret.txt', 'link.txt', 'up/secret.txt', join(at.root, 'secret.txt')]) {
      expect(await call('read_file', { path })).toMatch(/^refused: .*outside of the folder/)
    }
    for (const path of ['../x.txt', 'up/x.txt', 'dangling.txt', '/etc/x']) {
      expect(await call('write_file', { path, text: 'x' })).toMatch(/^refused: /)
    }
    expect(() => statSync(join(at.root, 'new.txt'))).toThrow(/ENOENT/)
  })
})
