import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanEnvironment } from '../../src/cli/environment.ts'
import { runCli } from '../support/children.ts'
import {
  afterALook,
  type Host,
  hostOf,
  type HostOptions,
  overStdio,
  PAGE_ENV,
  personAt,
  PLAN,
  serveFolder,
  type StdioEnd,
  waiting,
} from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

let scratch: string
let data: string
let ends: (() => Promise<unknown>)[]

beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  const note = noted()
  if (note && isAlive(note.pid)) {
    process.kill(note.pid)
    await expect.poll(() => isAlive(note.pid), { timeout: 10_000 }).toBe(false)
  }
  rmSync(scratch, { recursive: true })
})

interface Started extends Partial<HostOptions> {
  readonly env?: Record<string, string>
  readonly cwd?: string
}

async function joined(args: readonly string[] = [], { env, cwd, ...options }: Started = {}): Promise<Host & StdioEnd> {
  const place = { ...(env ? { env } : {}), ...(cwd === undefined ? {} : { cwd }) }
  const host = await overStdio(data, hostOf({ era: '2025', ...options }), args, undefined, place)
  ends.push(() => host.client.close())
  return host
}

function noted(): { url: string; pid: number } | undefined {
  const file = join(data, 'server.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A process's parent, group and session. */
function statOf(pid: number): number[] {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  return fields.split(' ').slice(1, 4).map(Number)
}

/** Resolves with stderr once it has a line. */
const toldBy = async ({ stderr }: StdioEnd): Promise<string> => {
  await expect.poll(stderr, { timeout: 20_000 }).toContain('\n')
  return stderr()
}

describe('runsheet mcp', () => {
  it('[MC9][MC11] shares the folder with the running server and prints its URL in one line', async () => {
    const page = await serveFolder(data)
    ends.push(() => (page.process.kill(), page.ended))
    const host = await joined()
    expect(await toldBy(host)).toMatch(
      new RegExp(`^Runsheet: review plans at ${noted()?.url} \\(for a sign-in link: .* url --data .*\\)\n$`),
    )
    const answer = host.call('plan', PLAN)
    const person = personAt(data)
    const { review_id } = await waiting(person)
    await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Edited in the browser' }] })
    expect((await answer).data).toMatchObject({ next: '1 Edited in the browser' })
    expect(noted()?.pid).toBe(page.process.pid)
  })

  it('[MC9] starts a server of its own if none runs; that one outlives it and exits when idle', async () => {
    const host = await joined(['--idle-exit', '2s'])
    const said = await toldBy(host)
    expect(said).toContain(noted()?.url)
    const { pid = 0 } = noted() ?? {}
    expect(pid).not.toBe(host.pid)
    await host.client.close()
    await expect.poll(() => isAlive(host.pid), { timeout: 10_000 }).toBe(false)
    expect(isAlive(pid)).toBe(true)
    await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false)
  })

  it("[MC9] starts the page's server again for the next plan", async () => {
    const host = await joined()
    await toldBy(host)
    const { pid = 0 } = noted() ?? {}
    // 0 would be our own process group.
    expect(pid).toBeGreaterThan(0)
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
    const answer = host.call('plan', PLAN)
    await expect.poll(() => noted()?.pid ?? pid, { timeout: 20_000 }).not.toBe(pid)
    const { review_id } = await waiting(personAt(data))
    await personAt(data).decide(review_id, { action: 'cancel' })
    expect((await answer).data).toMatchObject({ confirmed: false })
    // The new URL is printed.
    expect(host.stderr()).toContain(noted()?.url)
  })

  it('a page whose data folder was moved is not handed out: another one is started', async () => {
    await toldBy(await joined())
    const before = noted()
    await ends.pop()?.()
    renameSync(data, `${data}-moved`)
    data = `${data}-moved`
    const host = await joined(['--browser', 'off'])
    await expect.poll(() => noted()?.pid ?? before?.pid, { timeout: 20_000 }).not.toBe(before?.pid)
    const answer = host.call('plan', PLAN)
    await personAt(data).decide((await waiting(personAt(data))).review_id, { action: 'cancel' })
    expect((await answer).data).toMatchObject({ confirmed: false })
  })

  it('[MC9] two that start at once share one server', async () => {
    const [one, two] = await Promise.all([joined(), joined()])
    const pages = [await toldBy(one), await toldBy(two)]
    expect(new Set(pages).size).toBe(1)
  })

  it('[MC11] puts no secret on a command line, on stderr or in the log', async () => {
    const host = await joined()
    const said = await toldBy(host)
    const { pid = 0 } = noted() ?? {}
    const secrets = ['person-token', 'agent-token'].map(name => readFileSync(join(data, name), 'utf8').trim())
    const heard = [said, readFileSync(`/proc/${pid}/cmdline`, 'utf8'), readFileSync(join(data, 'serve.log'), 'utf8')]
    for (const secret of secrets) expect(heard.join('\n')).not.toContain(secret)
    expect(heard.join('\n')).not.toContain('code=')
    expect(statSync(join(data, 'serve.log')).mode & 0o777).toBe(0o600)
  })

  it("the page's server is in a session of its own, not under the host, and gets none of its secrets", async () => {
    const secrets = { CLAUDE_CODE_MESSAGING_TOKEN: 'secret', OPENAI_API_KEY: 'key', NODE_NO_WARNINGS: '1' }
    const host = await joined([], { env: secrets })
    await toldBy(host)
    const { pid = 0 } = noted() ?? {}
    const [parent, , session] = statOf(pid)
    expect(session).toBe(pid)
    expect([host.pid, process.pid]).not.toContain(parent)
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map(each => each.split('=')[0] ?? '')
    const passed = names.filter(name => name !== '' && !name.startsWith('RUNSHEET_'))
    expect(['XDG_CONFIG_HOME', ...Object.keys(cleanEnvironment(process.env))]).toEqual(expect.arrayContaining(passed))
  })

  it('opens the page of a plan in the browser, once, where a person has a display', async () => {
    const seen = join(scratch, 'opened')
    const browser = join(scratch, 'browser.sh')
    writeFileSync(browser, `#!/bin/sh\necho "$1" >> ${seen}\n`, { mode: 0o755 })
    const env = { RUNSHEET_BROWSER: 'on', DISPLAY: ':9', BROWSER: browser, CI: '', SSH_CONNECTION: '' }
    const host = await joined(['--session', 'c1'], { env })
    await toldBy(host)
    const answer = host.call('plan', PLAN)
    await expect.poll(() => existsSync(seen) && readFileSync(seen, 'utf8')).toBe(`${noted()?.url}?chat=c1\n`)
    const { review_id } = await waiting(personAt(data))
    const again = host.call('await_review', { review_id })
    await personAt(data).decide(review_id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    for (const each of [await answer, await again]) expect(each.data).toMatchObject({ ids: [1] })
    expect(readFileSync(seen, 'utf8').split('\n')).toHaveLength(2)
  })

  it('asks nobody where Claude Code runs without a person', async () => {
    const host = await joined([], {
      name: 'claude-code',
      capabilities: { elicitation: { form: {}, url: {} } },
      answers: afterALook(() => ({ action: 'decline' })),
      env: { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' },
    })
    await toldBy(host)
    const answer = host.call('plan', PLAN)
    const { review_id } = await waiting(personAt(data))
    await personAt(data).decide(review_id, { action: 'confirm', tasks: [{ title: 'Edited' }] })
    expect((await answer).data).toMatchObject({ next: '1 Edited' })
    expect(host.asked).toEqual([])
  })

  it('[MC3] a restart in the same session of Claude Code finds the plan again', async () => {
    const started = { name: 'claude-code', env: { CLAUDE_CODE_SESSION_ID: 'session-1' } }
    const first = await joined(['--review', 'off'], started)
    await first.call('plan', PLAN)
    await first.client.close()
    const [second, other] = await Promise.all([
      joined(['--review', 'off'], started),
      joined(['--review', 'off'], { ...started, env: { CLAUDE_CODE_SESSION_ID: 'session-2' } }),
    ])
    expect((await second.call('tasks')).data).toMatchObject({ next: '1 Look', remaining: 2 })
    expect((await other.call('tasks')).data).toMatchObject({ tasks: [] })
  })

  it('a conversation is named after the host, its folder and the plan, also if it was read before', async () => {
    const cwd = join(scratch, 'website')
    mkdirSync(cwd)
    const host = await joined(['--review', 'off'], { name: 'claude-code', cwd })
    await toldBy(host)
    await host.call('tasks')
    await host.call('plan', PLAN)
    const { sessions } = await personAt(data).sessions()
    expect(sessions.map(({ title }) => title)).toEqual(['Claude Code · website · Look'])
    // The page folds the same title from the log.
    const { view } = await personAt(data).snapshot(sessions[0]?.session_id ?? '')
    expect(view.title).toBe('Claude Code · website · Look')
  })

  it('[MC12] exits when stdin ends, even during a call; the review stays pending', async () => {
    const host = await joined(['--session', 'c1'])
    await toldBy(host)
    void host.call('plan', PLAN).catch(() => {})
    const { review_id } = await waiting(personAt(data))
    await host.client.close()
    await expect.poll(() => isAlive(host.pid), { timeout: 10_000 }).toBe(false)
    // Decided without a host: the next one gets the answer when it repeats the call in the same conversation.
    await personAt(data).decide(review_id, { action: 'confirm', tasks: [{ title: 'Kept' }] })
    const again = await joined(['--session', 'c1'])
    expect((await again.call('plan', PLAN)).data).toMatchObject({ next: '1 Kept' })
  })

  it('[MC11] says that a server with another store cannot show its plans', async () => {
    const page = await serveFolder(data, ['--store', 'memory'])
    ends.push(() => (page.process.kill(), page.ended))
    const host = await joined()
    expect(await toldBy(host)).toMatch(/uses another --store and cannot show these plans/)
  })

  it('a stopping server answers held calls with pending_review', async () => {
    const page = await serveFolder(data)
    const person = personAt(data)
    const token = readFileSync(join(data, 'person-token'), 'utf8').trim()
    const calls = (['2025', '2026'] as const).map(async era => {
      const host = hostOf({ era })
      const headers = { authorization: `Bearer ${token}`, 'runsheet-session': `c-${era}` }
      const url = new URL('mcp', noted()?.url)
      await host.client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
      return host.client.callTool({ name: 'plan', arguments: PLAN })
    })
    await expect.poll(async () => (await person.pendingReviews()).reviews.length, { timeout: 10_000 }).toBe(2)
    page.process.kill('SIGTERM')
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ structuredContent: { status: 'pending_review' } })
    }
    expect((await page.ended).code).toBe(0)
  })

  it('[MC12] writes only protocol messages to stdout, whatever it receives', async () => {
    const child = runCli(['mcp', '--data', data], { env: PAGE_ENV })
    child.process.stdin?.write('this is no JSON\n\n{"jsonrpc":"2.0"}\n[]\n')
    child.process.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    const line = await child.line(() => true)
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0', id: 1 })
    child.process.stdin?.end()
    expect((await child.ended).code).toBe(0)
    for (const each of child.lines) expect(JSON.parse(each)).toMatchObject({ jsonrpc: '2.0' })
  })

  it('[MC12] exits when stdout is closed', async () => {
    const child = runCli(['mcp', '--data', data, '--review', 'off'], { env: PAGE_ENV })
    child.process.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await child.line(() => true)
    child.process.stdout?.destroy()
    child.process.stdin?.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
    const { code, stderr } = await child.ended
    expect(code).toBe(0)
    expect(stderr).not.toContain('await')
  })

  it('[MC3] uses a new conversation unless one is named', async () => {
    const named = ['--review', 'off', '--session', 'c1']
    const [one, two, three, four] = await Promise.all([
      joined(['--review', 'off']),
      joined(['--review', 'off']),
      joined(named),
      joined(named),
    ])
    await one.call('plan', PLAN)
    expect((await two.call('tasks')).data).toMatchObject({ tasks: [] })
    await three.call('plan', PLAN)
    expect((await four.call('tasks')).data).toMatchObject({ remaining: 2 })
  })

  it('[MC11] options and settings that cannot work are refused in one line', async () => {
    const config = join(scratch, 'checks.json')
    writeFileSync(config, JSON.stringify({ checks: { wrap: ['no-such-wrapper'] } }))
    const wrong = [
      [['--toolset', 'nothing'], 2, 'nothing'],
      [['--store', 'memory'], 1, 'mcp cannot use --store memory'],
      [['--session', 'no spaces'], 1, '--session must be'],
      [['--idle-exit', 'banana'], 2, 'It must be a time'],
      [['--config', config], 1, 'runsheet: checks.wrap: The program no-such-wrapper was not found. Install it, or'],
    ] as const
    const ended = await Promise.all(wrong.map(([args]) => runCli(['mcp', '--data', data, ...args]).ended))
    for (const [index, [, code, words]] of wrong.entries()) {
      expect(ended[index]?.code).toBe(code)
      expect(ended[index]?.stderr).toContain(words)
      expect(ended[index]?.stderr.trim().split('\n')).toHaveLength(1)
    }
  })

  it('a plan that comes before the client has named its root waits for it, and has its checks', async () => {
    const host = hostOf({ era: '2025', capabilities: { roots: {} } })
    const asked = Promise.withResolvers<void>()
    const named = Promise.withResolvers<void>()
    host.client.setRequestHandler('roots/list', async () => {
      asked.resolve()
      await named.promise
      return { roots: [{ uri: pathToFileURL(scratch).href }] }
    })
    const { client, call } = await overStdio(data, host)
    ends.push(() => client.close())
    await asked.promise
    const planned = call('plan', { tasks: [{ title: 'A', check: 'npm test' }] })
    named.resolve()
    await expect.poll(noted, { timeout: 20_000 }).toBeDefined()
    const person = personAt(data)
    const { review_id, draft_tasks } = await waiting(person)
    expect(draft_tasks[0]?.checks).toMatchObject([{ run: ['npm', 'test'] }])
    await person.decide(review_id, { action: 'cancel' })
    await planned
  })

  it('the first root that is a folder here counts, for plans that come after it is named, late or as a change', async () => {
    const host = hostOf({ era: '2025', capabilities: { roots: { listChanged: true } } })
    const named = Promise.withResolvers<void>()
    let roots = [join(scratch, 'gone'), scratch]
    host.client.setRequestHandler('roots/list', async () => {
      await named.promise
      return { roots: roots.map(folder => ({ uri: pathToFileURL(folder).href })) }
    })
    const { client, call, stderr } = await overStdio(data, host, ['--review', 'off'])
    ends.push(() => client.close())
    const plan = async (): Promise<unknown> => {
      // Answered after what the client sent before.
      await client.ping()
      const { data: answer } = await call('plan', { tasks: [{ title: 'A', check: 'npm test' }] })
      const { ids = [], message } = answer as { ids?: number[]; message?: string }
      await call('update', { id: ids[0], status: 'cancelled', outcome: 'Not needed.' })
      return message
    }
    expect(await plan()).toContain('--workspace FOLDER')
    named.resolve()
    expect(await plan()).toBeUndefined()
    roots = []
    await client.sendRootsListChanged()
    expect(await plan()).toContain('no workspace')
    roots = [scratch]
    await client.sendRootsListChanged()
    expect(await plan()).toBeUndefined()
    expect(stderr()).not.toContain('timed out')
  })

  it('the tools are listed with checks before the client has named its root; without one, no check is lost silently', async () => {
    const host = hostOf({ era: '2025', capabilities: { roots: {} } })
    const named = Promise.withResolvers<void>()
    host.client.setRequestHandler('roots/list', async () => {
      await named.promise
      return { roots: [] }
    })
    const { client, call } = await overStdio(data, host, ['--review', 'off'])
    ends.push(() => client.close())
    const offered = async (): Promise<boolean> =>
      JSON.stringify((await client.listTools()).tools.find(({ name }) => name === 'plan')?.inputSchema).includes(
        'check',
      )
    expect(await offered()).toBe(true)
    const planned = call('plan', { tasks: [{ title: 'A', check: 'npm test' }] })
    named.resolve()
    expect((await planned).data).toMatchObject({ ids: [1], message: expect.stringContaining('no workspace') })
    expect(await offered()).toBe(false)
  })

  it('[CR24][MC8] a check that a person writes runs with the program that their server found, whatever PATH the host has', async () => {
    const work = join(scratch, 'work')
    mkdirSync(work)
    for (const name of ['one', 'two']) {
      mkdirSync(join(scratch, name))
      writeFileSync(join(scratch, name, 'prog'), `#!/bin/sh\necho ${name}\ntest -s src/sum.txt\n`, { mode: 0o755 })
    }
    const env = (name: string): Record<string, string> => ({
      XDG_CONFIG_HOME: join(scratch, 'config'),
      PATH: `${join(scratch, name)}:${process.env['PATH']}`,
    })
    const page = await serveFolder(data, [], env('one'))
    ends.push(() => (page.process.kill(), page.ended))
    const host = await joined(['--workspace', work, '--session', 's1'], { env: env('two') })
    const planned = host.call('plan', { tasks: [{ title: 'A' }] })
    const person = personAt(data)
    const { review_id } = await waiting(person)
    await person.decide(review_id, { action: 'confirm', tasks: [{ draft_index: 0, check: 'prog' }] })
    await planned
    mkdirSync(join(work, 'src'))
    writeFileSync(join(work, 'src/sum.txt'), '3')
    await host.call('update', { id: 1, outcome: 'It is in sum.txt.' })
    const { tasks } = await person.tasks('s1')
    expect(tasks).toMatchObject([
      { standing: 'proven', checks: [{ programs: [{ path: join(scratch, 'one', 'prog') }] }] },
    ])
    const list = await host.client.readResource({ uri: 'runsheet://s1/tasks' })
    const [content] = list.contents
    const text = content && 'text' in content ? content.text : ''
    const { hash = '', programs: _, workspace: _w, ...check } = tasks[0]?.checks?.[0] ?? {}
    expect(JSON.parse(text)).toMatchObject({ tasks: [{ standing: 'proven', checks: [check] }] })
    expect([hash, scratch].filter(secret => secret === '' || text.includes(secret))).toEqual([])
  })

  it('[MC9] takes the policy of new conversations from runsheet.json', async () => {
    const config = join(scratch, 'runsheet.json')
    writeFileSync(config, JSON.stringify({ policy: { toolset: 'task_manager', review: false } }))
    const { client, call } = await joined(['--config', config])
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('add_task')
    expect((await call('add_task', { tasks: [{ title: 'A' }] })).data).toMatchObject({ created_count: 1 })
  })
})
