import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer as createHttpServer, request } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { DataFolder } from '../src/cli/server/data-folder.ts'
import { ServerLock } from '../src/cli/server/server-lock.ts'
import { createClient } from '../src/client/client.ts'
import { TOOLSETS } from '../src/core/model/policy.ts'
import { pageToken } from '../src/server/http/access.ts'
import { BUILT, type Child, runCli, runProcess, whyNotHeldBack } from './support/children.ts'
import { runHere } from './support/in-process.ts'
import { freshDatabase } from './support/postgres.ts'
import { scratchFolder } from './support/scratch.ts'

const READY = /^Runsheet is ready at (http:\/\/127\.0\.0\.1:\d+\/)#code=([\w-]+)$/

/** As long as a token must be at least. */
const PERSON = 'given-to-a-person'.padEnd(32, '-')
const AGENT = 'given-to-an-agent'.padEnd(32, '-')

const IDLE = 'Stopping: no requests, streams or running turns for a while.\n'

let folder: string
let data: string
let children: Child[]

beforeEach(() => {
  folder = scratchFolder()
  data = join(folder, 'data')
  children = []
})
afterEach(async () => {
  for (const child of children) child.process.kill('SIGKILL')
  await Promise.all(children.map(child => child.ended))
  rmSync(folder, { recursive: true })
})

/** As built, which starts in half the time; what depends on the form is tested with both. */
function cli(args: readonly string[], options: Parameters<typeof runCli>[1] = {}): Child {
  const child = runCli(args, { cwd: folder, file: BUILT, ...options })
  children.push(child)
  return child
}

async function serve(args: readonly string[] = [], options: Parameters<typeof runCli>[1] = {}) {
  const child = cli(['serve', '--port', '0', '--data', data, ...args], options)
  const line = await child.line(() => true)
  const [, url = '', code = ''] = READY.exec(line) ?? []
  return { child, line, url, code }
}

/** Runs a command as a hint prints it: in a shell that has nothing of npm's own PATH. */
function shell(command: string, cwd = folder): Child {
  const path = (process.env['PATH'] ?? '').split(':').filter(each => !each.endsWith('node_modules/.bin'))
  const child = runProcess(['bash', '-c', `exec ${command}`], { cwd, env: { ...process.env, PATH: path.join(':') } })
  children.push(child)
  return child
}

/** What a message names as the command to run: the rest of its line. */
const commandIn = (text: string, before: string): string => text.split(before)[1]?.split('\n')[0] ?? ''

const said = async (child: Child): Promise<{ code: number | null; stderr: string; lines: readonly string[] }> => {
  const { code, stderr } = await child.ended
  return { code, stderr, lines: child.lines }
}

/** In this process: for commands that end by themselves and hold nothing. */
async function here(args: readonly string[], env: NodeJS.ProcessEnv = {}): ReturnType<typeof said> {
  const { code, out, err: stderr } = await runHere(args, { cwd: folder, env })
  return { code, stderr, lines: out === '' ? [] : out.split('\n') }
}

it('[CL1] its first line has a code that signs the page in; the command for a new link works as printed', async () => {
  const { child, line, url, code } = await serve()
  expect(line).toMatch(READY)
  const { token } = await createClient({ url }).login(code)
  expect(await createClient({ url, token }).sessions()).toEqual({ sessions: [], next_cursor: null })
  const hint = await child.line(each => each.startsWith('Stop: '))
  expect((await said(shell(commandIn(hint, 'New sign-in link: ')))).lines[0]).toContain(`${url}#code=`)
})

describe('words', () => {
  it('--help lists the commands', async () => {
    const { code, lines } = await here(['--help'])
    expect(code).toBe(0)
    expect(lines.join('\n')).toMatch(/^  serve .*^  mcp .*^  url .*^  stats /ms)
  })

  it('[CL5] an unknown command or option is one line; the command that it names prints help', async () => {
    for (const [word, kind] of [
      ['frobnicate', 'command'],
      ['--frobnicate', 'option'],
    ] as const) {
      const { code, stderr, lines } = await here([word])
      expect({ code, lines }).toEqual({ code: 2, lines: [] })
      expect(stderr).toMatch(new RegExp(`^runsheet: unknown ${kind}: ${word}\\. Try: [^\n]+ --help\n$`))
      const help = await said(shell(commandIn(stderr, 'Try: ')))
      expect({ code: help.code, first: help.lines[0] }).toEqual({
        code: 0,
        first: expect.stringMatching(/^Usage: runsheet /),
      })
    }
  })

  it.each([['status'], ['mcp']])('in a folder that is gone, %s says so in one line', async (...args) => {
    const gone = join(folder, 'gone')
    mkdirSync(gone)
    const words = [
      process.execPath,
      join(import.meta.dirname, '..', BUILT),
      ...args,
      ...(args[0] === 'mcp' ? ['--data', data] : []),
    ]
    const script = 'cd "$0" && rmdir "$0" && exec "$@"'
    const child = runProcess(['sh', '-c', script, gone, ...words], { cwd: folder, env: process.env })
    children.push(child)
    child.process.stdin?.end()
    expect(await child.ended).toMatchObject({
      code: 1,
      stderr: 'runsheet: the current folder was deleted or cannot be read. Change to another one.\n',
    })
    expect(child.lines).toEqual([])
    expect(existsSync(data)).toBe(false)
  })

  it('the command that url names to start a server works as printed', async () => {
    const { stderr } = await here(['url', '--data', data], { RUNSHEET_PORT: '0' })
    const started = shell(`env RUNSHEET_PORT=0 ${commandIn(stderr, 'Start one: ')}`)
    expect(await started.line(() => true)).toMatch(READY)
  })
})

describe('serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '[CL2] %s ends it cleanly, streams and waiting calls included, also when it comes twice',
    async signal => {
      const { child, url } = await serve()
      const agent = createClient({ url, token: secret('agent-token') })
      const call = { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'a' }] } }
      const waiting = agent.call('runsheet', 'plan', call)
      await expect.poll(async () => (await agent.pendingReviews()).reviews).toHaveLength(1)
      // Half a request keeps the server from ending before the second signal.
      const half = request(new URL('/api/login', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '20' },
      }).on('error', () => {})
      half.write('{')
      const stream = await fetch(new URL('/api/sessions/c/events', url), {
        headers: { authorization: `Bearer ${secret('agent-token')}` },
      })
      child.process.kill(signal)
      await once(child.process.stderr ?? child.process, 'data')
      child.process.kill(signal)
      half.destroy()
      expect(await waiting).toMatchObject({ status: 'pending_review' })
      expect(await stream.text()).toContain('task_create_review_required')
      expect(await said(child)).toMatchObject({ code: 0, stderr: 'Stopping: finishing requests in progress.\n' })
      expect(existsSync(join(data, 'server.json'))).toBe(false)
    },
  )

  it('[CL2] a signal ends it at once, however long --idle-exit is', async () => {
    const { child } = await serve(['--idle-exit', '2h'])
    child.process.kill('SIGTERM')
    expect((await said(child)).code).toBe(0)
  })

  it('[CL2] it closes what it opened: SQLite leaves only the database', async () => {
    const { child, url } = await serve(['--review', 'off'])
    const agent = createClient({ url, token: secret('agent-token') })
    await agent.call('runsheet', 'plan', { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'a' }] } })
    expect(existsSync(join(data, 'runsheet.db-wal'))).toBe(true)
    child.process.kill('SIGTERM')
    expect((await said(child)).code).toBe(0)
    expect(existsSync(join(data, 'runsheet.db-wal'))).toBe(false)
    expect(existsSync(join(data, 'runsheet.db-shm'))).toBe(false)
    expect(existsSync(join(data, 'server.lock-journal'))).toBe(false)
  })

  it('[CL2] it closes its connections to PostgreSQL, which would keep the process alive', async () => {
    const database = await freshDatabase(inject('postgresUrl'))
    const { child, url } = await serve(['--store', database.url])
    const person = createClient({ url, token: secret('person-token') })
    await person.setPolicy('c', { review: false })
    child.process.kill('SIGTERM')
    expect((await said(child)).code).toBe(0)
    await database.drop()
  })

  it('a taken port is one line that says what to do', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await said(cli(['serve', '--port', String(port), '--data', data]))
    other.close()
    expect(code).toBe(1)
    expect(stderr).toBe(
      `runsheet: port ${port} on 127.0.0.1 is in use. Choose another with --port, or 0 for any free port.\n`,
    )
  })

  it('[CL6] a second server on the same data says where the first one is, and exits', async () => {
    const { url, child } = await serve()
    const { code, stderr } = await said(cli(['serve', '--port', '0', '--data', data]))
    expect(code).toBe(1)
    const before = `runsheet: ${data} is already served at ${url} (process ${child.process.pid}). For a sign-in link: `
    expect(stderr.startsWith(before)).toBe(true)
    expect((await said(shell(commandIn(stderr, before)))).lines[0]).toContain(`${url}#code=`)
  })

  it('[CL6] kill -9 leaves the folder free, and a stale note', async () => {
    const { child } = await serve()
    child.process.kill('SIGKILL')
    await child.ended
    expect(existsSync(join(data, 'server.json'))).toBe(true)
    expect((await serve()).line).toMatch(READY)
  })

  it('a data folder or database that is something else is one line', async () => {
    writeFileSync(data, 'a file')
    expect(await said(cli(['serve', '--port', '0', '--data', data]))).toMatchObject({
      code: 1,
      stderr: `runsheet: cannot use the data folder ${data}: it is not a folder. Choose another with --data.\n`,
    })
    rmSync(data)
    mkdirSync(data)
    writeFileSync(join(data, 'runsheet.db'), 'no database at all, but long enough to be looked at')
    const { code, stderr } = await said(cli(['serve', '--port', '0', '--data', data]))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^runsheet: cannot open SQLite: [^\n]+\n$/)
  })

  it('a database that does not answer is one line, without the password', async () => {
    const store = 'postgres://ann:s3cret@127.0.0.1:1/none'
    const { code, stderr } = await said(cli(['serve', '--port', '0', '--data', data, '--store', store]))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^runsheet: cannot open PostgreSQL at 127\.0\.0\.1:1\/none: [^\n]+\n$/)
    expect(stderr).not.toContain('s3cret')
  })

  it.each(['mongo', 'postgres://ann:s3cret#x@127.0.0.1:1/x', 'postgres://ann:s3cret@host:99999/db'])(
    '[CL5] the store %s is refused in one line, without what may be a password',
    async store => {
      const { code, stderr } = await here(['serve', '--data', data, '--store', store])
      expect(code).toBe(1)
      expect(stderr).toMatch(/^runsheet: --store must be [^\n]*\n$/)
      expect(stderr).not.toContain('s3cret')
    },
  )

  it('a file that cannot be read or written is one line', async () => {
    mkdirSync(data)
    for (const name of ['server.lock', 'person-token', 'runsheet.db']) {
      mkdirSync(join(data, name))
      const { code, stderr } = await said(cli(['serve', '--port', '0', '--data', data]))
      expect(code, name).toBe(1)
      expect(stderr).toMatch(/^runsheet: cannot [^\n]+\n$/)
      rmSync(join(data, name), { recursive: true })
    }
  })

  it.skipIf(whyNotHeldBack !== undefined)('a folder without permission is one line', async () => {
    const closed = scratchFolder()
    for (const mode of [0o000, 0o555]) {
      chmodSync(closed, mode)
      const child = runCli(['serve', '--port', '0', '--data', closed], { heldBack: true })
      children.push(child)
      const { code, stderr } = await said(child)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^runsheet: cannot use the data folder [^\n]+\n$/)
    }
    rmSync(closed, { recursive: true })
  })

  it('[CL2] npm start prints a command for a new link that works as printed, and ends on SIGTERM', async () => {
    const root = fileURLToPath(new URL('..', import.meta.url))
    const npm = runProcess(['npm', 'start', '--silent', '--', '--port', '0', '--data', data], {
      cwd: root,
      env: process.env,
    })
    children.push(npm)
    const [, url = ''] = READY.exec(await npm.line(line => READY.test(line))) ?? []
    const hint = await npm.line(line => line.startsWith('Stop: '))
    expect(hint).toBe(`Stop: Ctrl-C. New sign-in link: npm run -s runsheet -- url --data ${data}`)
    expect((await said(shell(commandIn(hint, 'New sign-in link: '), root))).lines[0]).toContain(`${url}#code=`)
    npm.process.kill('SIGTERM')
    await npm.ended
    await expect
      .poll(() =>
        fetch(new URL('/healthz', url)).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone')
  })

  it('a token goes to the server that holds the folder, not to another process on its old port', async () => {
    const first = await serve()
    first.child.process.kill('SIGKILL')
    await first.child.ended
    const note = join(data, 'server.json')
    const old = readFileSync(note, 'utf8')
    const heard: string[] = []
    const stranger = createHttpServer((request, response) => {
      heard.push(request.headers.authorization ?? '')
      response.end('{}')
    })
    await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
    const { port } = stranger.address() as AddressInfo
    writeFileSync(note, old.replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${port}`))
    expect((await here(['url', '--data', data])).code).toBe(1)
    const { url } = await serve()
    expect((await here(['url', '--data', data])).lines[0]).toContain(url)
    stranger.close()
    expect(heard).toEqual([])
  })

  it('url says so if the server was started with RUNSHEET_TOKEN, and creates no token', async () => {
    await serve([], { env: { RUNSHEET_TOKEN: PERSON } })
    expect(await here(['url', '--data', data])).toMatchObject({
      code: 1,
      stderr: `runsheet: the server for ${data} was started with RUNSHEET_TOKEN. Set RUNSHEET_TOKEN to the same value.\n`,
    })
    expect(existsSync(join(data, 'person-token'))).toBe(false)
    const { lines } = await here(['url', '--data', data], { RUNSHEET_TOKEN: PERSON })
    expect(lines[0]).toContain('#code=')
    await here(['url', '--data', join(folder, 'nowhere')])
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
  })

  it('url says why a server issues no link', async () => {
    new DataFolder(data, {}).tokens({})
    const url = (): Promise<{ code: number | null; stderr: string }> => here(['url', '--data', data])
    const lock = await ServerLock.take(data)
    if (!(lock instanceof ServerLock)) throw new Error('it is served')
    expect(await url()).toMatchObject({
      code: 1,
      stderr: `runsheet: the server for ${data} is starting or stopping. Try again in a moment.\n`,
    })
    let status = 500
    const server = createHttpServer((_, response) => {
      response.writeHead(status).end('{"error":{"code":"internal","message":"Something went wrong."}}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    lock.announce({ url: local, local, pid: process.pid, store: 'folder' })
    expect(await url()).toMatchObject({
      code: 1,
      stderr: `runsheet: the server for ${data} did not issue a link: Something went wrong.\n`,
    })
    status = 401
    expect(await url()).toMatchObject({
      code: 1,
      stderr: `runsheet: the server for ${data} was started with RUNSHEET_TOKEN. Set RUNSHEET_TOKEN to the same value.\n`,
    })
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    expect(await url()).toMatchObject({
      code: 1,
      stderr: `runsheet: the server for ${data} (process ${process.pid}) does not answer at ${local}.\n`,
    })
    lock.release()
  })

  it('behind a proxy the link has the public URL, and url asks the server at its local address', async () => {
    const child = cli(['serve', '--port', '0', '--data', data, '--public-url', 'https://runsheet.example.com'])
    expect(await child.line(() => true)).toMatch(/^Runsheet is ready at https:\/\/runsheet\.example\.com\/#code=/)
    const { lines } = await here(['url', '--data', data])
    expect(lines[0]).toMatch(/^https:\/\/runsheet\.example\.com\/#code=/)
  })

  it('stats prints how the judge did, also while a server runs', async () => {
    const { url } = await serve()
    expect((await here(['stats', '--data', data])).lines).toEqual(['No judgements yet.'])
    const person = createClient({ url, token: secret('person-token') })
    await person.chat({ session_id: 'c', turn_id: 't', message: 'Compute 1 + 1. Compute 2 + 2.', review: false })
    await expect.poll(async () => (await person.session('c')).turns[0]?.status, { timeout: 20_000 }).toBe('done')
    const [task] = (await person.tasks('c')).tasks
    await person.changeTask('c', task?.id ?? '', task?.version ?? 0, { status: 'pending' })
    const { lines } = await here(['stats', '--data', data])
    expect(lines).toEqual(['demo: 2 judged (2 ok, 0 not ok, 0 unknown), 1 overruled (1 false passes, 0 false rejects)'])
    expect((await here(['stats', '--data', join(folder, 'none')])).code).toBe(1)
  })

  it.each([
    ['--port', 'x'],
    ['--port', '65536'],
    ['--review', 'maybe'],
    ['--idle-exit', '5'],
    ['--idle-exit', '0s'],
    ['--log', 'loud'],
    ['--public-url', 'here'],
    ['--agent-writes', '0'],
  ])('[CL5] %s %s is refused in one line', async (option, value) => {
    const { code, stderr } = await here(['serve', '--data', data, option, value])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^runsheet: [^\n]* Try: [^\n]+ --help\n$/)
    expect(stderr).toContain(value)
    expect(existsSync(data)).toBe(false)
  })

  it('[CL5] a toolset that does not exist is refused with the names', async () => {
    const { stderr } = await here(['serve', '--data', data], { RUNSHEET_TOOLSET: 'todo' })
    for (const name of Object.keys(TOOLSETS)) expect(stderr).toContain(name)
  })

  it('[CL8] each option is also a variable; an empty variable counts as unset; the option wins', async () => {
    const env = {
      RUNSHEET_PORT: '0',
      RUNSHEET_DATA: join(folder, 'elsewhere'),
      RUNSHEET_STORE: 'memory',
      RUNSHEET_REVIEW: 'off',
      RUNSHEET_HOST: '',
      RUNSHEET_MODEL: '',
      RUNSHEET_TOKEN: PERSON,
      RUNSHEET_AGENT_TOKEN: AGENT,
    }
    const child = cli(['serve', '--data', data], { env })
    const [, url = ''] = READY.exec(await child.line(() => true)) ?? []
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false)
    expect(existsSync(join(data, 'person-token'))).toBe(false)
    const person = createClient({ url, token: PERSON })
    const agent = createClient({ url, token: AGENT })
    const call = { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'a' }] } }
    expect(await agent.call('runsheet', 'plan', call)).toMatchObject({ result: { remaining: 1 } })
    expect((await person.session('c')).policy).toMatchObject({ review: false, toolset: 'runsheet' })
    await expect(agent.setPolicy('c', { review: false })).rejects.toMatchObject({ code: 'persons_only' })
  })

  it('[CL8] equal tokens are refused: an agent could act as a person', async () => {
    const env = { RUNSHEET_TOKEN: PERSON, RUNSHEET_AGENT_TOKEN: PERSON }
    const { code, stderr } = await said(cli(['serve', '--port', '0', '--data', data], { env }))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'runsheet: RUNSHEET_TOKEN and RUNSHEET_AGENT_TOKEN must differ, or agents could act as a person.\n',
    })
  })

  it('[CL8] a token that is too short or does not fit into a header is refused, without being shown', async () => {
    const wrong = [
      [{ RUNSHEET_TOKEN: `${PERSON} ${PERSON}` }, 32],
      [{ RUNSHEET_TOKEN: 'x'.repeat(501) }, 32],
      [{ RUNSHEET_TOKEN: 'x'.repeat(31) }, 32],
      [{ RUNSHEET_AGENT_TOKEN: 'x'.repeat(31) }, 32],
      [{ RUNSHEET_AGENT_TOKEN: `${AGENT}schlüssel` }, 32],
      [{ RUNSHEET_MODEL_KEY: 'a\nb' }, 1],
    ] as const
    for (const [env, min] of wrong) {
      const { code, stderr } = await here(['serve', '--port', '0', '--data', data], env)
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `runsheet: ${Object.keys(env)[0]} must be ${min} to 500 printable ASCII characters without spaces.\n`,
      })
    }
    expect(existsSync(data)).toBe(false)
  })

  it('tokens are created at the first start, for the owner only, and stay', async () => {
    const first = await serve()
    const tokens = [secret('person-token'), secret('agent-token')]
    expect(new Set(tokens).size).toBe(2)
    for (const name of ['person-token', 'agent-token']) {
      expect(statSync(join(data, name)).mode & 0o777).toBe(0o600)
      chmodSync(join(data, name), 0o644)
    }
    first.child.process.kill('SIGTERM')
    await first.child.ended
    await serve()
    expect([secret('person-token'), secret('agent-token')]).toEqual(tokens)
    expect(statSync(join(data, 'person-token')).mode & 0o777).toBe(0o600)
  })

  it('no token is printed, whatever is logged', async () => {
    const { child, url } = await serve(['--log', 'debug'])
    const person = createClient({ url, token: secret('person-token') })
    await person.sessions()
    await expect(createClient({ url, token: 'wrong-token' }).sessions()).rejects.toMatchObject({ status: 401 })
    child.process.kill('SIGTERM')
    const { stderr, lines } = await said(child)
    for (const token of [secret('person-token'), secret('agent-token'), 'wrong-token']) {
      expect(stderr + lines.join('\n')).not.toContain(token)
    }
  })

  it('url prints a new link, which works once; without a server it says so', async () => {
    const { child, url } = await serve()
    const { lines } = await here(['url', '--data', data])
    const [, code = ''] = /#code=([\w-]+)$/.exec(lines[0] ?? '') ?? []
    expect(lines[0]).toBe(`${url}#code=${code}`)
    expect(await createClient({ url }).login(code)).toEqual({ token: pageToken(secret('person-token')) })
    await expect(createClient({ url }).login(code)).rejects.toMatchObject({ status: 401, code: 'invalid_code' })
    child.process.kill('SIGKILL')
    await child.ended
    const { code: exitCode, stderr } = await here(['url', '--data', data])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^runsheet: no server is running for [^\n]+\. Start one: [^\n]+ serve --data [^\n]+\n$/)
  })

  it('--idle-exit ends an idle server, also while a review waits, which the next server has', async () => {
    const { child, url } = await serve(['--idle-exit', '300ms'])
    const agent = createClient({ url, token: secret('agent-token') })
    const asking = new AbortController()
    const call = { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'a' }] } }
    const waiting = agent.call('runsheet', 'plan', call, asking.signal)
    await expect.poll(async () => (await agent.pendingReviews()).reviews).toHaveLength(1)
    const { reviews } = await agent.pendingReviews()
    expect(reviews).toMatchObject([{ status: 'pending', expires_at: null }])
    asking.abort()
    await expect(waiting).rejects.toThrow()
    expect(await said(child)).toMatchObject({ code: 0, stderr: IDLE })
    expect(existsSync(join(data, 'server.json'))).toBe(false)
    const next = await serve([])
    const person = createClient({ url: next.url, token: secret('person-token') })
    expect((await person.pendingReviews()).reviews).toEqual(reviews)
  })

  it('--idle-exit waits for a quiet stream to close', async () => {
    const { child, url } = await serve(['--idle-exit', '300ms', '--store', 'memory', '--review', 'off'])
    const agent = createClient({ url, token: secret('agent-token') })
    await agent.call('runsheet', 'plan', { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'a' }] } })
    const following = new AbortController()
    const stream = await fetch(new URL('/api/sessions/c/events', url), {
      headers: { authorization: `Bearer ${secret('agent-token')}` },
      signal: following.signal,
    })
    expect(stream.status).toBe(200)
    // Several times the limit.
    await new Promise(resolve => setTimeout(resolve, 1_000))
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
    following.abort()
    expect(await said(child)).toMatchObject({ code: 0, stderr: IDLE })
    expect(existsSync(join(data, 'server.json'))).toBe(false)
  })

  it('runsheet.json sets the policy of new conversations; a mistake in it is one line', async () => {
    writeFileSync(join(folder, 'runsheet.json'), JSON.stringify({ policy: { toolset: 'task_list', review: true } }))
    const { url, child } = await serve(['--config', 'runsheet.json', '--review', 'off'])
    const agent = createClient({ url, token: secret('agent-token') })
    const call = { session_id: 'c', turn_id: 't', arguments: { title: 'a' } }
    expect(await agent.call('task_list', 'AddTask', call)).toMatchObject({ result: { done: false } })
    child.process.kill('SIGTERM')
    await child.ended
    for (const [text, problem] of [
      ['{', /runsheet\.json is not valid JSON/],
      ['{"policy":{"toolset":"none"}}', /toolset must be one of/],
      ['{"policy":{"reveiw":true}}', /reveiw is not a known field/],
      ['{"polici":{}}', /polici/],
    ] as const) {
      writeFileSync(join(folder, 'runsheet.json'), text)
      const { code, stderr } = await said(cli(['serve', '--port', '0', '--data', data]))
      expect(code).toBe(1)
      expect(stderr).toMatch(/^runsheet: [^\n]+\n$/)
      expect(stderr).toMatch(problem)
    }
  })

  it.each(['sqlite', 'file', 'postgres'])('[CL1] on %s, plans survive kill -9 and a restart', async kind => {
    const database = kind === 'postgres' ? await freshDatabase(inject('postgresUrl')) : undefined
    const store = database?.url ?? kind
    const first = await serve(['--store', store, '--review', 'off'])
    const call = { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'a' }] } }
    await createClient({ url: first.url, token: secret('agent-token') }).call('runsheet', 'plan', call)
    first.child.process.kill('SIGKILL')
    await first.child.ended
    const second = await serve(['--store', store])
    const { tasks } = await createClient({ url: second.url, token: secret('person-token') }).tasks('c')
    expect(tasks.map(({ title }) => title)).toEqual(['a'])
    second.child.process.kill('SIGKILL')
    await second.child.ended
    await database?.drop()
  })
})

const secret = (name: string): string => readFileSync(join(data, name), 'utf8').trim()
