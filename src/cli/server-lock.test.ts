import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import { ServerLock } from './server-lock.ts'

const NOTE = { url: 'http://a.example/', local: 'http://127.0.0.1:1/', pid: 1, store: 'folder' }

function newFolder(): string {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('the lock of a data folder', () => {
  it('[CL6] one server at a time; others see where it is', () => {
    const folder = newFolder()
    const lock = ServerLock.take(folder)
    expect(ServerLock.take(folder)).toBeUndefined()
    expect(ServerLock.serving(folder)).toBe('starting')
    lock?.announce(NOTE)
    expect(ServerLock.serving(folder)).toEqual(NOTE)
    lock?.release()
  })

  it('[CL6] after its release the note is gone, and the next one can take it', () => {
    const folder = newFolder()
    const lock = ServerLock.take(folder)
    lock?.announce(NOTE)
    lock?.release()
    expect(existsSync(join(folder, 'server.json'))).toBe(false)
    expect(ServerLock.serving(folder)).toBeUndefined()
    const next = ServerLock.take(folder)
    expect(next).toBeDefined()
    next?.release()
  })

  it('[CL6] a note without a held lock is stale', () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'server.json'), JSON.stringify(NOTE))
    expect(ServerLock.serving(folder)).toBeUndefined()
    const lock = ServerLock.take(folder)
    expect(ServerLock.serving(folder)).toBe('starting')
    lock?.release()
  })

  it('[CL6] a process that only reads who serves the folder does not keep a server from starting', async () => {
    const folder = newFolder()
    // The reader releases its lock while we wait for it; on a slow machine perhaps too late, so try again.
    let lock: ServerLock | undefined
    for (let tries = 0; tries < 10 && !lock; tries += 1) {
      const releaseSoon = await readerOf(folder)
      releaseSoon()
      lock = ServerLock.take(folder)
    }
    expect(lock).toBeDefined()
    lock?.release()
  })
})

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
