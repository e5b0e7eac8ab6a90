import { parentPort } from 'node:worker_threads'
import { FileHasher } from './file-hash.ts'
import { Records } from './record.ts'
import { type Request, Surveyor } from './survey.ts'

// Reads and hashes files off the event loop, and caches the hashes between looks.
const surveyor = new Surveyor(new FileHasher(), new Records())

parentPort?.on('message', ({ id, request }: { readonly id: number; readonly request: Request }) => {
  try {
    const answer =
      request.do === 'look' ? surveyor.look(request.look, request.unchanged) : surveyor.compare(request.compare)
    parentPort?.postMessage({ id, answer }, [])
  } catch (error) {
    parentPort?.postMessage({ id, error }, [])
  }
})
