import { openMemoryStore as open } from '../store/memory.ts'
import type { Store } from './runsheet.ts'

/** A store that forgets when the process ends: for tests, and for trying things out. */
export const openMemoryStore = (): Store => open()
