import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { add, openTurn, run } from '../store/contract.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { runCli } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { mountSmallDisk, whyNoMounts } from '../support/mounts.ts'
import { scratchFolder } from '../support/scratch.ts'

const INVALID = 'Task file is corrupt or invalid.'
const ref = { tenant: 'local', conversation: 'c1' }
const TASKS = `${JSON.stringify({ tasks: [{ id: '1', title: 'secret', description: '', done: false }] })}\n`

let scratch: string
let data: string
let folder: string
let outside: string
let ends: (() => unknown)[]
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  folder = join(data, '.agents', 'tasks')
  outside = join(scratch, 'outside.json')
  writeFileSync(outside, TASKS)
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(scratch, { recursive: true })
})

/** `runsheet serve --store file` in a process of its own. */
async function serve(): Promise<{ agent: Client; person: Client; stop: () => Promise<string> }> {
  const child = runCli(['serve', '--port', '0', '--data', data, '--store', 'file'])
  // One that hangs does not end by itself.
  ends.push(() => (child.process.kill('SIGKILL'), child.ended))
  const [url = ''] = /http:\S+?(?=#)/.exec(await child.line(() => true)) ?? []
  const client = (token: string): Client => createClient({ url, token: readFileSync(join(data, token), 'utf8').trim() })
  const stop = async (): Promise<string> => {
    child.process.kill('SIGTERM')
    const { code, stderr } = await child.ended
    expect(code).toBe(0)
    return stderr
  }
  return { agent: client('agent-token'), person: client('person-token'), stop }
}

const fifo = (path: string): void => void execFileSync('mkfifo', [path])

async function socket(path: string): Promise<void> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(path, resolve))
  ends.push(() => server.close())
}

fault('a link, pipe, folder or giant in the place of a task file')

describe('runsheet serve --store file, with something else in the place of a task file', () => {
  const file = (): string => join(folder, 'c1.json')
  it.each<[string, () => unknown, RegExp]>([
    ['a link to /dev/zero', () => symlinkSync('/dev/zero', file()), /^it is a link, which is not followed$/],
    ['a link to a file outside', () => symlinkSync(outside, file()), /^it is a link/],
    [
      'a link to a file inside',
      () => {
        writeFileSync(join(folder, 'other.json'), TASKS)
        symlinkSync('other.json', file())
      },
      /^it is a link/,
    ],
    ['a link to nothing', () => symlinkSync(join(scratch, 'nothing'), file()), /^it is a link/],
    ['a pipe', () => fifo(file()), /^it is a pipe, socket or device$/],
    ['a socket', () => socket(file()), /^it is a pipe, socket or device$/],
    ['a folder', () => mkdirSync(file()), /^it is a folder$/],
    [
      'a file of 1 GB',
      () => {
        writeFileSync(file(), TASKS)
        truncateSync(file(), 2 ** 30)
      },
      /^it has more than 8 MB$/,
    ],
  ])('[FI16] %s: that conversation is refused at once, the others go on, the log says why', async (_, put, detail) => {
    mkdirSync(folder, { recursive: true })
    await put()
    const was = lstatSync(file()).mode
    const { agent, person, stop } = await serve()
    const call = (session_id: string, tool: string, args: object): Promise<unknown> =>
      agent.call('task_list', tool, { session_id, turn_id: 't1', arguments: args })
    expect(await call('c1', 'ListTasks', {})).toEqual({ result: `Error: ${INVALID}` })
    expect(await call('c1', 'AddTask', { title: 'a' })).toEqual({ result: `Error: ${INVALID}` })
    await expect(person.tasks('c1')).rejects.toMatchObject({
      status: 409,
      code: 'file_invalid',
      message: INVALID,
      details: { file: '.agents/tasks/c1.json' },
    })
    await call('c2', 'AddTask', { title: 'b' })
    expect((await person.tasks('c2')).tasks).toHaveLength(1)
    const logged = (await stop()).split('\n').filter(line => line.startsWith('{'))
    expect(logged.map(line => JSON.parse(line).err)).toEqual([
      {
        code: 'file_invalid',
        reason: INVALID,
        file: '.agents/tasks/c1.json',
        detail: expect.stringMatching(detail),
      },
    ])
    expect(lstatSync(file()).mode).toBe(was)
    expect(readFileSync(outside, 'utf8')).toBe(TASKS)
    expect(existsSync(join(scratch, 'nothing'))).toBe(false)
    expect(readdirSync(folder).sort()).toEqual(expect.arrayContaining(['c1.json', 'c2.json']))
  })

  it('[FI16] a conversation whose file becomes a pipe while it runs is refused, and works again with a file', async () => {
    const { agent, stop } = await serve()
    const call = (tool: string, args: object): Promise<unknown> =>
      agent.call('task_list', tool, { session_id: 'c1', turn_id: 't1', arguments: args })
    await call('AddTask', { title: 'a' })
    // In one step each: a file that is missing for a moment counts as an emptied list.
    copyFileSync(file(), outside)
    fifo(join(scratch, 'pipe'))
    renameSync(join(scratch, 'pipe'), file())
    expect(await call('ListTasks', {})).toEqual({ result: `Error: ${INVALID}` })
    renameSync(outside, file())
    expect(JSON.stringify(await call('ListTasks', {}))).toContain('a')
    await stop()
  })
})

describe('a link on the way to the task files', () => {
  const elsewhere = (): string => join(scratch, 'elsewhere')
  beforeEach(() => {
    mkdirSync(join(elsewhere(), 'tasks'), { recursive: true })
    writeFileSync(join(elsewhere(), 'tasks', 'c1.json'), TASKS)
    writeFileSync(join(elsewhere(), 'tasks', '.c1.json.1-1.tmp'), 'not ours')
  })
  const untouched = (): void => {
    expect(readdirSync(join(elsewhere(), 'tasks')).sort()).toEqual(['.c1.json.1-1.tmp', 'c1.json'])
    expect(readFileSync(join(elsewhere(), 'tasks', 'c1.json'), 'utf8')).toBe(TASKS)
  }

  it.each<[string, () => void]>([
    [
      '.agents',
      () => {
        mkdirSync(data)
        symlinkSync(elsewhere(), join(data, '.agents'))
      },
    ],
    [
      '.agents/tasks',
      () => {
        mkdirSync(join(data, '.agents'), { recursive: true })
        symlinkSync(join(elsewhere(), 'tasks'), folder)
      },
    ],
  ])('[FI16] %s: the server says so and does not start', async (name, link) => {
    link()
    const child = runCli(['serve', '--port', '0', '--data', data, '--store', 'file'])
    ends.push(() => child.process.kill('SIGKILL'))
    const { code, stderr } = await child.ended
    expect(code).not.toBe(0)
    expect(stderr).toContain(`${join(data, name)} cannot be used: it is a link, which is not followed.`)
    untouched()
  })

  it('[FI16] that is put there before the folder exists: every list is refused, and nothing outside is touched', async () => {
    const store = await openFileStore({ data })
    ends.push(() => store.close())
    symlinkSync(elsewhere(), join(data, '.agents'))
    const refused = { code: 'file_invalid', message: INVALID, file: '.agents', detail: expect.stringMatching(/link/) }
    await expect(store.load(ref, 'list')).rejects.toMatchObject(refused)
    await expect(store.commit(ref, run(openTurn('t1'), add('t1', 'a')))).rejects.toMatchObject(refused)
    untouched()
  })

  it('[FI16] a tenant whose folder is a link is refused; other tenants go on', async () => {
    mkdirSync(folder, { recursive: true })
    symlinkSync(join(elsewhere(), 'tasks'), join(folder, 'acme'))
    const store = await openFileStore({ data })
    ends.push(() => store.close())
    const acme = { tenant: 'acme', conversation: 'c1' }
    const refused = { code: 'file_invalid', file: '.agents/tasks/acme' }
    await expect(store.load(acme, 'list')).rejects.toMatchObject(refused)
    await expect(store.commit(acme, run(openTurn('t1'), add('t1', 'a')))).rejects.toMatchObject(refused)
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    untouched()
  })

  it('[FI16] that is the lock file is refused, and no file is made behind it', async () => {
    mkdirSync(data)
    symlinkSync(join(scratch, 'nothing'), join(data, 'files.lock'))
    await expect(openFileStore({ data })).rejects.toMatchObject({
      message: expect.stringMatching(/files\.lock is a link/),
    })
    expect(existsSync(join(scratch, 'nothing'))).toBe(false)
  })
})

it('a folder that has become read-only is reported briefly, without a path, and nothing is committed', async ({
  skip,
}) => {
  // Permissions do not hold root back: it needs a file system that is read-only.
  const isRoot = process.getuid?.() === 0
  if (process.platform === 'win32') return skip('needs a file system with permissions')
  if (isRoot && whyNoMounts) return skip(whyNoMounts)
  mkdirSync(folder, { recursive: true })
  const disk = isRoot ? mountSmallDisk(folder, 1) : undefined
  ends.push(() => (disk ? disk.unmount() : chmodSync(folder, 0o700)))
  const store = await openFileStore({ data })
  ends.push(() => store.close())
  await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
  const { seq } = await store.load(ref)
  if (disk) disk.remount('ro')
  else chmodSync(folder, 0o500)
  await expect(store.commit(ref, run(add('t1', 'b')))).rejects.toMatchObject({
    code: 'readonly',
    message: 'The task file cannot be written: permission denied.',
  })
  expect((await store.load(ref)).seq).toBe(seq)
})
