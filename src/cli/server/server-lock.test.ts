import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { ServerLock } from './server-lock.ts'

const NOTE = { url: 'http://a.example/', local: 'http://127.0.0.1:1/', pid: 1, store: 'folder' }

function newFolder(): string {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

async function taken(folder: string): Promise<ServerLock> {
  const lock = await ServerLock.take(folder)
  if (!(lock instanceof ServerLock)) throw new Error('another process holds it')
  onTestFinished(() => lock.release())
  return lock
}

describe('the lock of a data folder', () => {
  it('[CL6] one server at a time; others see where it is', async () => {
    const folder = newFolder()
    const lock = await taken(folder)
    expect(await ServerLock.take(folder)).toBe('starting')
    expect(ServerLock.serving(folder)).toBe('starting')
    lock.announce(NOTE)
    expect(ServerLock.serving(folder)).toMatchObject(NOTE)
    expect(await ServerLock.take(folder)).toMatchObject(NOTE)
  })

  it('[CL6] after its release the note is gone, and the next one can take it', async () => {
    const folder = newFolder()
    const lock = await taken(folder)
    lock.announce(NOTE)
    lock.release()
    expect(existsSync(join(folder, 'server.json'))).toBe(false)
    expect(ServerLock.serving(folder)).toBeUndefined()
    await taken(folder)
  })

  it('[CL6] a note without a held lock is stale', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'server.json'), JSON.stringify(NOTE))
    expect(ServerLock.serving(folder)).toBeUndefined()
    await taken(folder)
    expect(ServerLock.serving(folder)).toBe('starting')
  })

  it('[CL6] a process that only reads who serves the folder does not keep a server from starting', async () => {
    const folder = newFolder()
    // The reader releases its lock while we wait for it; on a slow machine perhaps too late, so try again.
    let lock: unknown
    for (let tries = 0; tries < 10 && !(lock instanceof ServerLock); tries += 1) {
      const releaseSoon = await readerOf(folder)
      releaseSoon()
      lock = await ServerLock.take(folder)
    }
    expect(lock).toBeInstanceOf(ServerLock)
    if (lock instanceof ServerLock) lock.release()
  })

  it('[TG9] lock and note are for the owner only, whatever the umask', async () => {
    const before = process.umask(0)
    onTestFinished(() => void process.umask(before))
    const folder = newFolder()
    const lock = await taken(folder)
    lock.announce(NOTE)
    const modes = ['server.lock', 'server.lock-journal', 'server.json'].map(
      name => statSync(join(folder, name)).mode & 0o777,
    )
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })

  it('a copy of a folder that is served is another folder, and free', async () => {
    const [folder, copy] = [newFolder(), newFolder()]
    const local = await listening()
    const lock = await taken(folder)
    lock.announce({ ...NOTE, local, pid: process.ppid })
    cpSync(join(folder, 'server.json'), join(copy, 'server.json'))
    await taken(copy)
  })

  it('the note of a server that died before its lock file was deleted is stale', async () => {
    const folder = newFolder()
    const lock = await taken(folder)
    lock.announce({ ...NOTE, local: 'http://127.0.0.1:1/', pid: process.ppid })
    const note = readFileSync(join(folder, 'server.json'), 'utf8')
    lock.release()
    writeFileSync(join(folder, 'server.json'), note.replace(/"lock":"\d+"/, '"lock":"1"'))
    expect(ServerLock.serving(folder)).toBe('starting')
    // Nobody listens there.
    await taken(folder)
  })

  it('a server that listens without its lock file keeps the folder, and takes the lock again', async () => {
    const folder = newFolder()
    const lock = await taken(folder)
    lock.announce({ ...NOTE, local: await listening(), pid: process.ppid })
    rmSync(join(folder, 'server.lock'))
    expect(await ServerLock.take(folder)).toMatchObject({ pid: process.ppid })
    void lock.lost()
    await expect.poll(() => ServerLock.serving(folder)).toMatchObject({ pid: process.ppid })
    lock.release()
    expect(ServerLock.serving(folder)).toBeUndefined()
  })

  it('a server whose lock and note were deleted hears of the next one, and leaves it its note', async () => {
    const folder = newFolder()
    const lock = await taken(folder)
    lock.announce(NOTE)
    rmSync(join(folder, 'server.lock'))
    rmSync(join(folder, 'server.json'))
    const next = await taken(folder)
    next.announce({ ...NOTE, pid: 2 })
    await lock.lost()
    lock.release()
    expect(ServerLock.serving(folder)).toMatchObject({ pid: 2 })
  })

  it('a server whose lock file was deleted before it listened gives way to the next one', async () => {
    const folder = newFolder()
    const lock = await taken(folder)
    rmSync(join(folder, 'server.lock'))
    await taken(folder)
    expect(() => lock.announce(NOTE)).toThrow('server.lock was deleted')
  })
})

/** The URL of something that listens. */
async function listening(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise(resolve => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** A thread that holds a read lock, as `runsheet url` does, until shortly after it is told to release it. */
async function readerOf(folder: string): Promise<() => void> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(READER, { eval: true, workerData: { file: join(folder, 'server.lock'), gate } })
  onTestFinished(() => worker.terminate().then(() => {}))
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  return () => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }
}

const READER = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData: { file, gate } } = require('node:worker_threads')
  const db = new DatabaseSync(file, { timeout: 5_000 })
  db.exec('BEGIN')
  db.prepare('SELECT name FROM sqlite_schema').all()
  parentPort.postMessage('holds')
  Atomics.wait(gate, 0, 0)
  Atomics.wait(gate, 0, 1, 20)
  db.close()
`
