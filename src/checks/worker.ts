import { parentPort } from 'node:worker_threads'
import { FileHasher } from './files.ts'
import { Records } from './record.ts'
import { Surveyor } from './survey.ts'

interface Asked {
  readonly id: number
  readonly method: keyof Surveyor
  readonly args: readonly unknown[]
}

// Reads and hashes files off the event loop, and caches the hashes between looks.
const surveyor = new Surveyor(new FileHasher(), new Records())

parentPort?.on('message', ({ id, method, args }: Asked) => {
  try {
    const answer = (surveyor[method] as (...args: readonly unknown[]) => unknown).apply(surveyor, [...args])
    parentPort?.postMessage({ id, answer }, [])
  } catch (error) {
    parentPort?.postMessage({ id, error }, [])
  }
})
