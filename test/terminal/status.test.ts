import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StatusReport } from '../../src/cli/status.ts'
import { describePostgres, ownDatabase, sql } from '../support/postgres-store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { BUILT, NO_SETTINGS } from '../support/children.ts'
import { Agent, doorAt, type Site, site, workspaceIn } from '../support/terminal-scene.ts'

const main = fileURLToPath(new URL(`../../${BUILT}`, import.meta.url))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Asked {
  readonly args?: readonly string[]
  /** Null: nobody says anything, and the pipe stays open. */
  readonly stdin?: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

function status(
  { folder, home }: Site,
  { args = ['--line'], stdin = '', env = {}, cwd = folder }: Asked = {},
): Promise<Ended> {
  const clean = Object.entries(process.env).filter(([name]) => !/^(RUNSHEET|CLAUDE)/.test(name))
  const child = spawn(process.execPath, [main, 'status', ...args], {
    cwd,
    env: { ...Object.fromEntries(clean), ...NO_SETTINGS, HOME: home, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  child.stdin.on('error', () => {})
  if (stdin !== null) child.stdin.end(stdin)
  return new Promise(resolve => child.once('close', code => resolve({ code, stdout, stderr })))
}

const EMPTY: Ended = { code: 0, stdout: '\n', stderr: '' }
const says = (stdout: string): Ended => ({ code: 0, stdout: `${stdout}\n`, stderr: '' })
const json = async (place: Site, asked: Asked = {}): Promise<StatusReport> =>
  JSON.parse((await status(place, { ...asked, args: ['--json', ...(asked.args ?? [])] })).stdout) as StatusReport

describe('runsheet status --line', () => {
  it('[TE2] is an empty line, creates nothing and ends with 0, whatever is wrong', async () => {
    const place = site()
    expect(await status(place)).toEqual(EMPTY)
    expect(await status(place, { args: ['--line', '--data', 'none', '--what'] })).toEqual(EMPTY)
    mkdirSync(place.data)
    expect(await status(place)).toEqual(EMPTY)
    expect(readdirSync(place.data)).toEqual([])
    writeFileSync(join(place.data, 'runsheet.db'), 'no database')
    expect(await status(place)).toEqual(EMPTY)
    expect(readdirSync(place.data)).toEqual(['runsheet.db'])
    expect(existsSync(join(place.home, '.runsheet'))).toBe(false)
  })

  it('[TE2] loads neither the command line library nor an HTTP client, nor what only writers need', () => {
    const text = (file: string): string => readFileSync(join(dirname(main), file), 'utf8')
    const entry = /import\("\.\/(status-line-[\w-]+\.js)"\)/.exec(text('runsheet.js'))?.[1] ?? ''
    const loaded = new Set([entry])
    for (const file of loaded) {
      for (const [, next = ''] of text(file).matchAll(/^(?:import|export) .*?"\.\/([\w-]+\.js)";$/gm)) loaded.add(next)
    }
    expect(loaded.size).toBeGreaterThan(1)
    const all = [...loaded].map(text).join('\n')
    expect(all).toContain('async function printStatusLine(')
    expect(all).not.toMatch(/class CommanderError|function openSqliteStore\(|\bfetch\(|from "node:https?"/)
  })

  it('says how far the plan is, what is at work, and what waits for a person', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({ review: false })
    await agent.plans('Collect', 'Check', 'Write')
    await agent.settles(1, { status: 'completed', outcome: 'Found 12.' })
    expect(await status(place)).toEqual(says('plan 1/3 · Check'))
    expect(await status(place, { env: { RUNSHEET_STORE: 'file' } })).toEqual(says('plan 1/3 · Check'))
    await agent.settles(2, { status: 'blocked', outcome: 'No key.' })
    expect(await status(place)).toEqual(says('plan 1/3, 1 blocked · Write'))
    await agent.settles(3, { status: 'completed', outcome: 'Written.' })
    expect(await status(place)).toEqual(says('plan 2/3 done, 1 blocked · 2 reported'))
  })

  it('[DS3][DS4] says that a dispute waits, on the line and with its reason', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({ review: false })
    await agent.plans('Collect', 'Check')
    await agent.disputes(1, 'There is no key.')
    expect(await status(place)).toEqual(says('plan 0/2, 1 disputed · waits for you: 1 dispute · Check'))
    const { stdout } = await status(place, { args: [] })
    expect(stdout).toMatch(/^ {2}\[!\] {2}1 {2}Collect +disputed$/m)
    expect(stdout).toContain('Waits for you\n  dispute of step 1, Collect: There is no key.\n')
  })

  it('prefers the conversation that waits for a person to the one that changed last', async () => {
    const place = site()
    const door = await doorAt(place)
    await (await new Agent(door, 'asks').opens()).plans('A', 'B')
    await (await new Agent(door, 'works').opens({ review: false })).plans('Collect')
    expect(await status(place)).toEqual(says('plan · waits for your review: 2 steps'))
  })

  it('is about the session that a host names on stdin, and no other', async () => {
    const place = site()
    const door = await doorAt(place)
    await (await new Agent(door, 'older').opens({ review: false })).plans('Collect')
    await (await new Agent(door, 'newer').opens({ review: false })).plans('Write')
    const asked = { hook_event_name: 'Status', session_id: 'older', cwd: '/', model: { id: 'x' } }
    expect(await status(place, { stdin: `${JSON.stringify(asked)}\n` })).toEqual(says('plan 0/1 · Collect'))
    expect(await status(place, { stdin: JSON.stringify({ session_id: 'cleared' }) })).toEqual(EMPTY)
    expect(await status(place, { env: { CLAUDE_CODE_SESSION_ID: 'older' } })).toEqual(says('plan 0/1 · Collect'))
    expect(await status(place, { args: ['--line', '--session', 'older'] })).toEqual(says('plan 0/1 · Collect'))
  })

  it('does not wait for a pipe that says nothing', async () => {
    const place = site()
    await (await new Agent(await doorAt(place), 'chat').opens({ review: false })).plans('Collect')
    expect(await status(place, { stdin: null })).toEqual(says('plan 0/1 · Collect'))
  })

  it('in a data folder that projects share, is about those whose agent works in this folder', async () => {
    const { folder, home, ...rest } = site()
    const shared = { folder, home, ...rest, data: join(home, '.runsheet') }
    const door = await doorAt(shared)
    await (await new Agent(door, 'here').opens({ review: false }, { workspace: workspaceIn(folder) })).plans('Collect')
    await (await new Agent(door, 'named').opens({ review: false }, { client: 'Codex · notes' })).plans('Note')
    await (await new Agent(door, 'else').opens({ review: false }, { workspace: workspaceIn('/else') })).plans('Write')
    for (const name of ['src', 'notes']) mkdirSync(join(folder, name))
    expect(await status(shared)).toEqual(says('plan 0/1 · Collect'))
    expect(await status(shared, { cwd: join(folder, 'src') })).toEqual(says('plan 0/1 · Collect'))
    expect(await status(shared, { cwd: join(folder, 'notes') })).toEqual(says('plan 0/1 · Note'))
    expect(await status(shared, { cwd: home })).toEqual(EMPTY)
  })

  it('[TE4] prints no control characters and no second line, and is bounded', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({ review: false })
    await agent.plans(`\u009b31mred\u202e ${'很长的标题'.repeat(40)}`)
    const { stdout } = await status(place)
    expect(stdout).toMatch(/^plan 0\/1 · (31m)?red [^\p{Cc}\u202e]*…\n$/u)
    expect(stdout.length).toBeLessThan(60)
  })
})

describe('runsheet status', () => {
  it('shows the plan with statuses and standings, and what waits where', async () => {
    const place = site()
    const door = await doorAt(place)
    const agent = await new Agent(door, 'chat').opens({ review: false }, { client: 'Claude Code · site' })
    await agent.plans('Collect the figures', 'Write the summary', 'Publish')
    await agent.settles(1, { status: 'completed', outcome: 'Found 12.' })
    await (await new Agent(door, 'asks').opens({}, { client: 'Codex · site' })).plans('Fix it')
    const { stdout, code } = await status(place, { args: ['--session', 'chat'] })
    expect(code).toBe(0)
    expect(stdout).toContain(
      [
        'Claude Code · site · Collect the figures',
        'conversation chat, as you named it',
        '',
        '1 of 3 done: 1 reported',
        '  [x]  1  Collect the figures                                           reported',
        '  [>]  2  Write the summary',
        '  [ ]  3  Publish',
        '',
        'Waits for you',
        '  review of 1 step: Codex · site · Fix it',
        '    ',
      ].join('\n'),
    )
    expect(stdout).toMatch(/runsheet\.js review\n$/)
    expect(stdout).not.toContain('\u001b')
  })

  it('[TE4] cuts no title where there is no terminal', async () => {
    const place = site()
    const title = 'Collect the figures '.repeat(6).trim()
    await (await new Agent(await doorAt(place), 'chat').opens({ review: false })).plans(title)
    expect((await status(place, { args: ['--session', 'chat'] })).stdout).toContain(`[>]  1  ${title}\n`)
  })

  it('tells in one line that a database cannot be read', async () => {
    const place = site()
    mkdirSync(place.data)
    writeFileSync(join(place.data, 'runsheet.db'), 'no database')
    const ended = await status(place, { args: [] })
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^runsheet: cannot open SQLite: .+\n$/),
    })
  })

  it('says so where there is no plan, and creates nothing', async () => {
    const place = site()
    const { stdout, code } = await status(place, { args: [] })
    expect({ stdout, code }).toEqual({
      stdout: expect.stringContaining(`No plan in ${place.folder}`) as string,
      code: 0,
    })
    expect(readdirSync(place.folder)).toEqual([])
    expect(readdirSync(place.home)).toEqual([])
    expect(await status(place, { args: ['--session', 'none'] })).toMatchObject({
      code: 1,
      stderr: 'runsheet: there is no conversation none with a plan.\n',
    })
  })

  it('says in one line that the database is damaged', async () => {
    const place = site()
    mkdirSync(place.data)
    writeFileSync(join(place.data, 'runsheet.db'), 'no database')
    const { code, stderr } = await status(place, { args: [] })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^runsheet: cannot open SQLite: .* is damaged and was left untouched\. .*\n$/)
  })

  it('prints the documented JSON', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({}, { client: 'Codex · site' })
    const review_id = await agent.plans('Fix it', 'Te\u2028st it')
    expect(await json(place)).toEqual({
      format: 'runsheet-status',
      version: 1,
      session: {
        session_id: 'chat',
        title: 'Codex · site · Fix it',
        updated_at: expect.any(String) as string,
        chosen_by: 'waiting',
      },
      plan: null,
      reviews: [
        { review_id, session_id: 'chat', title: 'Codex · site · Fix it', steps: 2, expires_at: null, url: null },
      ],
      page: null,
    })
    expect(await json(site())).toEqual({
      format: 'runsheet-status',
      version: 1,
      session: null,
      plan: null,
      reviews: [],
      page: null,
    })
  })
})

describePostgres('runsheet status on PostgreSQL', () => {
  it('reads the database that --store names, and creates nothing in one without plans', async () => {
    const place = site()
    const url = await ownDatabase()
    const asked = { env: { RUNSHEET_STORE: url } }
    expect(await status(place, asked)).toEqual(EMPTY)
    expect(await sql(url, "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'runsheet'")).toEqual([])
    const door = openDoor({ store: await openPostgresStore({ url }) })
    onTestFinished(() => door.close())
    await (await new Agent(door, 'chat').opens({ review: false }, { workspace: workspaceIn(place.folder) })).plans(
      'Collect',
    )
    expect(await status(place, asked)).toEqual(says('plan 0/1 · Collect'))
  })
})
