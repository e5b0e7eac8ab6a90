import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../src/client/client.ts'
import { BUILT, type Child, NO_SETTINGS, runCli, runProcess } from './support/children.ts'
import { hostOf, overStdio, personAt, PLAN, waiting } from './support/mcp.ts'
import { scratchFolder } from './support/scratch.ts'

/** A clone of a stranger's repository, the folder with the user's own settings, and a data folder outside of the clone. */
let clone: string
let config: string
let data: string
let scratch: string
let children: Child[]
let ends: (() => Promise<unknown>)[]

beforeEach(() => {
  scratch = realpathSync(scratchFolder())
  clone = join(scratch, 'clone')
  config = join(scratch, 'config')
  data = join(scratch, 'data')
  mkdirSync(clone)
  children = []
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  for (const child of children) child.process.kill('SIGKILL')
  await Promise.all(children.map(child => child.ended))
  await pageServerEnded()
  rmSync(scratch, { recursive: true })
})

/** The program that a stranger's settings start. */
const started = (): string => join(scratch, 'started')
const hostile = (policy: object = { review: false }): object => ({
  policy,
  mcpServers: { x: { command: 'sh', args: ['-c', 'echo started > "$0"', started()] } },
})

const write = (folder: string, settings: unknown): string => {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'runsheet.json')
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
  return file
}
const inClone = (settings: unknown): string => write(clone, settings)
const own = (settings: unknown): string => write(join(config, 'runsheet'), settings)

type Options = Parameters<typeof runCli>[1]

const main = fileURLToPath(new URL(`../${BUILT}`, import.meta.url))

function cli(args: readonly string[], { env, ...options }: Options = {}): Child {
  const child = runCli(args, { cwd: clone, env: { XDG_CONFIG_HOME: config, ...env }, file: BUILT, ...options })
  children.push(child)
  return child
}

async function serve(args: readonly string[] = [], options: Options = {}): Promise<{ child: Child; person: Client }> {
  const child = cli(['serve', '--port', '0', '--data', data, ...args], options)
  await child.line(line => line.startsWith('Runsheet is ready'))
  return { child, person: personAt(data) }
}

/** What a server started this way says on stderr, and the policy of a conversation that it begins. */
async function policyOf(args: readonly string[] = [], options: Options = {}) {
  const { child, person } = await serve(args, options)
  await person.setPolicy('c', {})
  const { policy } = await person.session('c')
  return { policy, stderr: await ended(child) }
}

async function ended(child: Child, signal: NodeJS.Signals = 'SIGTERM'): Promise<string> {
  child.process.kill(signal)
  return (await child.ended).stderr.replace('Stopping: finishing requests in progress.\n', '')
}

async function refused(args: readonly string[], options: Options = {}): Promise<string> {
  const child = cli(args, options)
  // `mcp` goes on for its host.
  child.process.stdin?.end()
  const { code, stderr } = await child.ended
  expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 })
  return stderr
}

/** A turn on the page, which connects the MCP servers. */
async function turnAt(person: Client): Promise<void> {
  await person.chat({ session_id: 'c', turn_id: 't', message: 'Compute 1 + 1. Compute 2 + 2.', review: false })
  await expect.poll(async () => (await person.session('c')).turns[0]?.status).toBe('done')
}

async function pageServerEnded(): Promise<void> {
  const file = join(data, 'server.json')
  const pid = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid : undefined
  if (pid === undefined || !isAlive(pid)) return
  process.kill(pid)
  await expect.poll(() => isAlive(pid)).toBe(false)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Runs `runsheet trust` in a terminal, in which a person types this. */
async function atTerminal(
  typed: string,
  args: readonly string[] = [],
  typedBefore = '',
): Promise<{ code: number | null; shown: string }> {
  const command = [process.execPath, main, 'trust', ...args].map(word => `'${word}'`).join(' ')
  const env = { ...process.env, ...NO_SETTINGS, XDG_CONFIG_HOME: config }
  const child = runProcess(['script', '-qec', command, '/dev/null'], { cwd: clone, env })
  children.push(child)
  child.process.stdin?.write(typedBefore)
  // Refusals come without a question.
  await Promise.race([child.line(line => line.startsWith('Programs run as you')), child.ended])
  child.process.stdin?.end(`${typed}\n`)
  const { code } = await child.ended
  return { code, shown: child.lines.join('\n') }
}

const inTerminal = describe.skipIf(process.platform !== 'linux')

describe("a project's runsheet.json", () => {
  it('[TG3] serve starts none of its programs, and reviews plans as before; one line says what was ignored', async () => {
    inClone(hostile())
    const { child, person } = await serve()
    await turnAt(person)
    await person.setPolicy('d', {})
    expect((await person.session('d')).policy).toMatchObject({ review: true })
    const stderr = await ended(child)
    expect(stderr).toMatch(
      /^Runsheet: ignored policy\.review, mcpServers\.x in [^\n]*\/clone\/runsheet\.json: a project's settings may only be stricter than yours\. To trust the file: [^\n]+ trust [^\n]*\/clone\/runsheet\.json\n$/,
    )
    expect(existsSync(started())).toBe(false)
  })

  it('[TG3] mcp asks a person all the same, and the page that it starts runs none of its programs', async () => {
    inClone(hostile())
    const env = { XDG_CONFIG_HOME: config }
    const host = await overStdio(data, hostOf({ era: '2025' }), [], BUILT, { env, cwd: clone })
    ends.push(() => host.client.close())
    const planned = host.call('plan', PLAN)
    await expect.poll(() => existsSync(join(data, 'server.json'))).toBe(true)
    const person = personAt(data)
    const { review_id } = await waiting(person)
    await turnAt(person)
    await person.decide(review_id, { action: 'cancel' })
    expect((await planned).data).toMatchObject({ confirmed: false })
    expect(existsSync(started())).toBe(false)
    expect(host.stderr().match(/ignored policy\.review, mcpServers\.x/g)).toHaveLength(1)
    expect(readFileSync(join(data, 'serve.log'), 'utf8').match(/ignored policy\.review, mcpServers\.x/g)).toHaveLength(
      1,
    )
  })

  it('the page that mcp starts has what mcp was given: a file that the user named counts there, too', async () => {
    const file = write(join(scratch, 'elsewhere'), hostile({ toolset: 'task_manager' }))
    const host = await overStdio(data, hostOf({ era: '2025' }), ['--config', file], BUILT, { cwd: clone })
    ends.push(() => host.client.close())
    expect((await host.client.listTools()).tools.map(({ name }) => name)).toContain('add_task')
    await expect.poll(() => existsSync(join(data, 'server.json'))).toBe(true)
    await turnAt(personAt(data))
    expect(existsSync(started())).toBe(true)
    expect(host.stderr()).not.toContain('ignored')
  })

  it('[TG3] may tighten: checks on, limits down; a line names the limits', async () => {
    inClone({ policy: { review: true, gate: true, max_steps: 3 } })
    own({ policy: { review: false, gate: false, max_steps: 5 } })
    expect(await policyOf()).toEqual({
      policy: expect.objectContaining({ review: true, gate: true, max_steps: 3 }),
      stderr: `Runsheet: ${join(clone, 'runsheet.json')} sets max_steps to 3.\n`,
    })
  })

  it('[TG3] cannot loosen what the user has set, and --review still wins', async () => {
    inClone({ policy: { toolset: 'checklist', review: true, max_steps: 6, review_timeout_ms: null } })
    own({ policy: { max_steps: 5, review_timeout_ms: 60_000 } })
    const { policy, stderr } = await policyOf(['--review', 'off'])
    expect(policy).toMatchObject({ toolset: 'runsheet', review: false, max_steps: 5, review_timeout_ms: 60_000 })
    expect(stderr).toMatch(/ignored policy\.toolset, policy\.review_timeout_ms, policy\.max_steps in /)
  })

  it('that is no regular file, or too large, is refused without waiting for it', async () => {
    const file = join(clone, 'runsheet.json')
    execFileSync('mkfifo', [file])
    expect(await refused(['serve', '--data', data])).toContain('runsheet.json: it is not a regular file.')
    rmSync(file)
    symlinkSync('/dev/zero', file)
    expect(await refused(['serve', '--data', data])).toContain('runsheet.json: it is not a regular file.')
    rmSync(file)
    inClone(' '.repeat(1_000_001))
    expect(await refused(['serve', '--data', data])).toContain('runsheet.json: it is larger than 1000000 bytes.')
  })

  it('cannot send control characters to the terminal', async () => {
    inClone('{"\\u001b[2J\\u202e": 1}')
    expect(await refused(['serve', '--data', data])).toMatch(/^[ -~]+\n$/)
    inClone('\u001b[2J')
    expect(await refused(['serve', '--data', data])).toMatch(/^[ -~]+\n$/)
  })
})

describe('settings of the user', () => {
  it('[TG1] in the own configuration folder count as a whole, in every folder', async () => {
    own(hostile({ toolset: 'checklist', review: false }))
    const { child, person } = await serve()
    await turnAt(person)
    expect(existsSync(started())).toBe(true)
    expect((await person.session('c')).policy).toMatchObject({ toolset: 'checklist' })
    expect(await ended(child)).not.toContain('ignored')
  })

  it.each(['', '.'])('[TG1] are not looked for in the working folder if HOME is %j', async HOME => {
    write(join(clone, '.config', 'runsheet'), hostile())
    const env = { XDG_CONFIG_HOME: '', HOME }
    expect(await refused(['serve', '--data', data], { env })).toContain('Set HOME to its absolute path.')
  })

  it('[TG1] are read once where the own configuration folder is the working folder', async () => {
    own({ policy: { review: false } })
    const { policy, stderr } = await policyOf([], { cwd: join(config, 'runsheet') })
    expect({ review: policy?.review, stderr }).toEqual({ review: false, stderr: '' })
  })

  it('[TG1] in a file that was named with --config count as a whole, on top of the own ones', async () => {
    own({ policy: { review: false, max_steps: 5 } })
    inClone({ policy: { toolset: 'checklist', max_steps: 50 } })
    const { policy, stderr } = await policyOf(['--config', 'runsheet.json'])
    expect(policy).toMatchObject({ toolset: 'checklist', review: false, max_steps: 50 })
    expect(stderr).toBe('')
  })

  it('[TG1] in RUNSHEET_CONFIG count as a whole with an absolute path; a relative one is any folder’s', async () => {
    const file = inClone({ policy: { review: false } })
    const absolute = await policyOf([], { env: { RUNSHEET_CONFIG: file } })
    expect(absolute).toEqual({ policy: expect.objectContaining({ review: false }), stderr: '' })
    rmSync(data, { recursive: true })
    const { policy, stderr } = await policyOf([], { env: { RUNSHEET_CONFIG: 'runsheet.json' } })
    expect(policy).toMatchObject({ review: true })
    expect(stderr).toContain('ignored policy.review')
  })

  it('[TG1] that do not fit together are one line', async () => {
    own({ policy: { toolset: 'manage_todos' } })
    inClone({ policy: { assessor: false } })
    expect(await refused(['serve', '--data', data, '--config', 'runsheet.json'])).toContain('manage_todos')
  })
})

inTerminal('runsheet trust', () => {
  it('[TG3] shows what the file would do; once a person has typed the word, it does', async () => {
    const file = inClone(hostile({ review: false, gate: true }))
    const { code, shown } = await atTerminal('trust')
    expect(code).toBe(0)
    expect(shown).toContain(file)
    expect(shown).toContain('set review to false in new conversations')
    expect(shown).toContain(`start x: sh -c 'echo started > "$0"' ${started()}`)
    expect(shown).not.toContain('gate')
    const { child, person } = await serve()
    await turnAt(person)
    expect(existsSync(started())).toBe(true)
    expect(await ended(child)).not.toContain('ignored')
    const record = join(config, 'runsheet', 'trusted.json')
    expect(statSync(record).mode & 0o777).toBe(0o600)
    expect(statSync(join(config, 'runsheet')).mode & 0o777).toBe(0o700)
  })

  it('[TG3] what was typed before the file was shown is no answer', async () => {
    inClone(hostile())
    expect(await atTerminal('', [], 'trust\n')).toMatchObject({ code: 1 })
    expect(existsSync(join(config, 'runsheet'))).toBe(false)
  })

  it('[TG3] anything else that is typed trusts nothing', async () => {
    inClone(hostile())
    const ended = await Promise.all(['y', 'yes', '', 'TRUST', '\u0004'].map(typed => atTerminal(typed)))
    for (const { code } of ended) expect(code).toBe(1)
    expect(existsSync(join(config, 'runsheet'))).toBe(false)
  })

  it('[TG3] what the file says cannot repaint the terminal', async () => {
    inClone({ mcpServers: { x: { command: 'sh\u001b[1A\u001b[2K\u202e', env: { A: '\u009b2J' } } } })
    const { shown } = await atTerminal('no')
    expect(shown).toContain('sh\\u{1b}[1A\\u{1b}[2K\\u{202e}')
    expect(shown).toContain('\\u{9b}2J')
  })

  it('[TG3] a file that changed since, by whitespace only, is not trusted any more', async () => {
    const file = inClone(hostile())
    await atTerminal('trust')
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n`)
    const { policy, stderr } = await policyOf()
    expect(policy).toMatchObject({ review: true })
    expect(stderr).toContain('ignored policy.review, mcpServers.x')
  })

  it('[TG3] the same content elsewhere, or a link to the trusted file, is not trusted', async () => {
    const file = inClone(hostile())
    await atTerminal('trust')
    const other = join(scratch, 'other')
    write(other, hostile())
    expect((await policyOf([], { cwd: other })).policy).toMatchObject({ review: true })
    rmSync(data, { recursive: true })
    rmSync(join(other, 'runsheet.json'))
    symlinkSync(file, join(other, 'runsheet.json'))
    expect((await policyOf([], { cwd: other })).policy).toMatchObject({ review: true })
    rmSync(data, { recursive: true })
    // The same folder by another name.
    symlinkSync(clone, join(scratch, 'link'))
    expect((await policyOf([], { cwd: join(scratch, 'link') })).policy).toMatchObject({ review: false })
  })

  it('[TG3] --list says what is trusted and whether it changed; --remove takes it back', async () => {
    const file = inClone(hostile())
    expect((await cliLines('trust', '--list'))[0]).toBe('No settings file is trusted.')
    await atTerminal('trust')
    expect((await cliLines('trust', '--list'))[0]).toMatch(new RegExp(`^trusted  \\d{4}-\\d\\d-\\d\\d  ${file}$`))
    inClone({})
    expect((await cliLines('trust', '--list'))[0]).toMatch(/^changed /)
    rmSync(file)
    expect((await cliLines('trust', '--list'))[0]).toMatch(/^missing /)
    inClone(hostile())
    expect((await cliLines('trust', '--remove'))[0]).toContain('is not trusted any more')
    expect((await policyOf()).policy).toMatchObject({ review: true })
    expect(await refused(['trust', '--remove'])).toBe('runsheet: runsheet.json was not trusted.\n')
  })
})

const cliLines = async (...args: string[]): Promise<readonly string[]> => {
  const child = cli(args)
  expect(await child.ended).toMatchObject({ code: 0, stderr: '' })
  return child.lines
}

describe('runsheet trust without a terminal', () => {
  it('[TG3] refuses, and names the command for a person; there is no way around by options or input', async () => {
    const file = inClone(hostile())
    const child = cli(['trust'])
    child.process.stdin?.end('trust\n')
    const { code, stderr } = await child.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^runsheet: only a person can trust a file, in a terminal\. [^\n]+\n$/)
    expect(stderr.trimEnd().endsWith(` trust ${file}`)).toBe(true)
    expect((await cli(['trust', '--yes']).ended).code).toBe(2)
    expect(existsSync(join(config, 'runsheet'))).toBe(false)
  })

  it('[TG3] has nothing to ask about a file that only tightens, or that is not there', async () => {
    expect(await refused(['trust'])).toContain('there is no runsheet.json')
    const file = inClone({ policy: { review: true } })
    expect(await cliLines('trust')).toEqual([`Nothing in ${file} needs to be trusted.`])
  })

  it('[TG3] a damaged record trusts nothing, and says what to do', async () => {
    inClone(hostile())
    own({})
    writeFileSync(join(config, 'runsheet', 'trusted.json'), '{"files":')
    expect(await refused(['serve', '--data', data])).toMatch(
      /trusted\.json is damaged\. Delete it, and trust your files/,
    )
  })
})

describe('a data folder that git tracks', () => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: clone,
      encoding: 'utf8',
    })

  function commit(...files: string[]): void {
    for (const file of files) {
      mkdirSync(join(clone, file, '..'), { recursive: true })
      if (!existsSync(join(clone, file))) writeFileSync(join(clone, file), 'x'.repeat(43))
    }
    git('add', '-f', '.')
    git('commit', '-qm', 'x')
  }

  beforeEach(() => void git('init', '-q'))

  it.each([
    ['person-token', ['serve', 'mcp', 'url', 'stats']],
    ['agent-token', ['mcp']],
    ['runsheet.db', ['serve']],
    ['runsheet.db-wal', ['stats']],
    ['server.lock', ['url']],
    ['server.json', ['serve']],
    ['serve.log', ['mcp']],
  ])('[TG8] with %s in it is refused by %j, in one line', async (name, commands) => {
    commit(`.runsheet/${name}`)
    const said = await Promise.all(commands.map(command => refused([command])))
    for (const stderr of said) {
      expect(stderr).toContain(`git tracks .runsheet/${name}: `)
      expect(stderr).toContain(`--data; or, if it is yours: git -C ${clone} rm --cached .runsheet/${name}, and `)
    }
  })

  it('[TG8] is refused also where the file was deleted, and in a folder below', async () => {
    commit('sub/.runsheet/person-token')
    expect(await refused(['serve'], { cwd: join(clone, 'sub') })).toContain('sub/.runsheet/person-token')
    rmSync(join(clone, 'sub', '.runsheet'), { recursive: true })
    expect(await refused(['serve'], { cwd: join(clone, 'sub') })).toContain('sub/.runsheet/person-token')
    expect(existsSync(join(clone, 'sub', '.runsheet'))).toBe(false)
  })

  it('[TG8] is refused as a link, and behind a link', async () => {
    symlinkSync(scratch, join(clone, '.runsheet'))
    git('add', '.runsheet')
    expect(await refused(['serve'])).toContain('git tracks .runsheet: ')
    git('rm', '-q', '-f', '.runsheet')
    commit('kept/person-token')
    symlinkSync(join(clone, 'kept'), join(scratch, 'link'))
    expect(await refused(['serve', '--data', join(scratch, 'link')])).toContain('git tracks kept/person-token: ')
    symlinkSync(scratch, join(clone, 'out'))
    git('add', 'out')
    expect(await refused(['serve', '--data', 'out/data'])).toContain('git tracks out: ')
  })

  it('[TG8] starts once its files are not tracked, or are only task files', async () => {
    commit('.runsheet/.agents/tasks/c.json', 'README.md')
    const first = cli(['serve', '--port', '0'])
    await first.line(line => line.startsWith('Runsheet is ready'))
    await ended(first)
    git('add', '-f', '.')
    const [, command = ''] = /yours: (git .*), and/.exec(await refused(['serve'])) ?? []
    execFileSync('sh', ['-c', command], { cwd: '/' })
    await cli(['serve', '--port', '0']).line(line => line.startsWith('Runsheet is ready'))
  })

  it('[TG8][TG13] asking git starts nothing that the repository names, and hands it none of our secrets', async () => {
    commit('.runsheet/person-token')
    const script = join(scratch, 'hook')
    writeFileSync(script, `#!/bin/sh\ntouch ${started()}\n`)
    chmodSync(script, 0o755)
    for (const [key, value] of [
      ['core.fsmonitor', script],
      ['core.pager', script],
      ['core.hooksPath', scratch],
      ['alias.ls-files', `!${script}`],
    ] as const) {
      git('config', key, value)
    }
    // A git of ours that shows its environment and then is the real one.
    const bin = join(scratch, 'bin')
    mkdirSync(bin)
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
    writeFileSync(join(bin, 'git'), `#!/bin/sh\nenv > ${join(scratch, 'env')}\nexec ${real} "$@"\n`)
    chmodSync(join(bin, 'git'), 0o755)
    const secrets = { RUNSHEET_TOKEN: 's'.repeat(40), OPENAI_API_KEY: 'key', GIT_DIR: '/nowhere' }
    const env = { ...secrets, PATH: `${bin}:${process.env['PATH']}` }
    expect(await refused(['serve'], { env })).toContain('git tracks .runsheet/person-token')
    expect(existsSync(started())).toBe(false)
    expect(readFileSync(join(scratch, 'env'), 'utf8')).not.toMatch(/RUNSHEET|OPENAI|GIT_DIR/)
  })

  it.each([
    ['is missing', '', 'it is not installed'],
    ['fails', 'echo "fatal: bad index" >&2; exit 128', 'fatal: bad index'],
    ['hangs', 'exec sleep 60', 'it does not answer'],
  ])('[TG8] where git %s, only a folder that was made here is used, and one line says so', async (_, program, why) => {
    const bin = join(scratch, 'bin')
    mkdirSync(bin)
    if (program !== '') writeFileSync(join(bin, 'git'), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
    const env = { PATH: program === '' ? bin : `${bin}:/usr/bin:/bin` }
    const problem = `git cannot say whether it tracks files in .runsheet: ${why}`
    // The first start makes the folder; the second finds it.
    for (let times = 0; times < 2; times += 1) {
      const child = cli(['serve', '--port', '0'], { env })
      await child.line(line => line.startsWith('Runsheet is ready'))
      const lines = (await ended(child)).split('\n').filter(line => line.includes('git'))
      expect(lines).toEqual([`Runsheet: ${problem}`])
    }
    // A clone brings the tokens, and a mark that was true elsewhere.
    cpSync(join(clone, '.runsheet'), join(clone, 'copy'), { recursive: true })
    rmSync(join(clone, '.runsheet'), { recursive: true })
    renameSync(join(clone, 'copy'), join(clone, '.runsheet'))
    expect(await refused(['serve'], { env })).toContain(`${problem}. The tokens there may not be yours.`)
  })

  it.skipIf(process.getuid?.() !== 0)('[TG8] of another user is asked about all the same', async () => {
    commit('.runsheet/person-token')
    execFileSync('chown', ['-R', '1234', clone])
    expect(await refused(['serve'])).toContain('git tracks .runsheet/person-token: ')
  })
})

describe('what we make', () => {
  it.each(['sqlite', 'file'])(
    '[TG9] with umask 000 and --store %s, all but task files is for the owner only',
    async store => {
      const command = `umask 000; exec '${process.execPath}' '${main}' serve --port 0 --store ${store} --data '${data}' --review off`
      const child = runProcess(['sh', '-c', command], { cwd: clone, env: { ...process.env, ...NO_SETTINGS } })
      children.push(child)
      await child.line(line => line.startsWith('Runsheet is ready'))
      const { local } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8')) as { local: string }
      const token = readFileSync(join(data, 'agent-token'), 'utf8').trim()
      await createClient({ url: local, token }).call('runsheet', 'plan', {
        session_id: 'c',
        turn_id: 't',
        arguments: PLAN,
      })
      const modes = Object.fromEntries(
        readdirSync(data).map(name => [name, (statSync(join(data, name)).mode & 0o777).toString(8)]),
      )
      const { '.agents': tasks, sandbox, ...ours } = modes
      expect(sandbox).toBe('700')
      expect(Object.keys(ours)).toEqual(
        expect.arrayContaining(['runsheet.db', 'runsheet.db-wal', 'runsheet.db-shm', 'server.lock', 'server.json']),
      )
      expect(new Set(Object.values(ours))).toEqual(new Set(['600']))
      expect(tasks).toBe(store === 'file' ? '777' : undefined)
      expect(statSync(data).mode & 0o777).toBe(0o700)
    },
  )

  it('a data folder that others can read is reported once, and used', async () => {
    mkdirSync(data)
    chmodSync(data, 0o755)
    const { child } = await serve()
    expect(await ended(child)).toBe(`Runsheet: other users of this machine may read ${data}. Run: chmod go= ${data}\n`)
  })
})

describe('what is in the place of our files', () => {
  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('%s as server.json is neither read nor waited for, at the start and at the end', async (_, put) => {
    mkdirSync(data, { mode: 0o700 })
    put(join(data, 'server.json'))
    const { child } = await serve()
    expect(JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'))).toMatchObject({ pid: child.process.pid })
    rmSync(join(data, 'server.json'))
    put(join(data, 'server.json'))
    expect((await ended(child)).trim()).toBe('')
    rmSync(join(data, 'server.json'))
  })

  it('a folder as server.json is reported in one line', async () => {
    mkdirSync(join(data, 'server.json'), { recursive: true, mode: 0o700 })
    expect(await refused(['serve', '--port', '0', '--data', data])).toMatch(
      /^runsheet: cannot use the data folder .*\n$/,
    )
    rmSync(join(data, 'server.json'), { recursive: true })
  })

  it.each(['server.lock', 'runsheet.db'])('[TG9] %s is not created through a link', async name => {
    mkdirSync(data, { mode: 0o700 })
    const outside = join(data, '..', 'outside')
    mkdirSync(outside)
    symlinkSync(join(outside, 'victim'), join(data, name))
    const stderr = await refused(['serve', '--port', '0', '--data', data])
    expect(stderr).toMatch(
      new RegExp(`^runsheet: .*${name.replace('.', '\\.')}.* is (not a regular file|a link).*\\n$`),
    )
    expect(readdirSync(outside)).toEqual([])
  })
})

it('a deleted server.json comes back', async () => {
  const { child } = await serve()
  rmSync(join(data, 'server.json'))
  await expect.poll(() => existsSync(join(data, 'server.json'))).toBe(true)
  expect(await refused(['serve', '--port', '0', '--data', data])).toContain(`(process ${child.process.pid})`)
})

describe('a deleted server.lock', () => {
  it('[CL6] keeps the second server out all the same, also while the first is frozen', async () => {
    const { child } = await serve()
    for (const freeze of [false, true]) {
      if (freeze) child.process.kill('SIGSTOP')
      rmSync(join(data, 'server.lock'))
      const stderr = await refused(['serve', '--port', '0', '--data', data])
      expect(stderr).toContain(`(process ${child.process.pid})`)
    }
    child.process.kill('SIGCONT')
  })

  it('is made and locked again by the running server', async () => {
    const { child } = await serve()
    rmSync(join(data, 'server.lock'))
    rmSync(join(data, 'server.json'))
    await expect.poll(() => existsSync(join(data, 'server.json'))).toBe(true)
    expect(await refused(['serve', '--port', '0', '--data', data])).toContain(`(process ${child.process.pid})`)
    expect((await cliLines('url', '--data', data))[0]).toContain('#code=')
  })

  it('with its note, while the first is frozen, lets a second one in; then the first one stops', async () => {
    const { child } = await serve()
    child.process.kill('SIGSTOP')
    rmSync(join(data, 'server.lock'))
    rmSync(join(data, 'server.json'))
    const second = await serve()
    child.process.kill('SIGCONT')
    expect((await child.ended).stderr).toContain('Stopping: server.lock was deleted, and another server has taken')
    expect(JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'))).toMatchObject({ pid: second.child.process.pid })
    await second.person.sessions()
  })

  it('is free after kill -9', async () => {
    const { child } = await serve()
    await ended(child, 'SIGKILL')
    rmSync(join(data, 'server.lock'))
    await serve()
  })
})
