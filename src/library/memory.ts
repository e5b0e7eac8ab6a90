import { openMemoryStore as open } from '../store/memory.ts'
import type { Store } from './runsheet.ts'

/** Opens a store in memory, for tests and experiments. Its data is lost when the process ends. */
export const openMemoryStore = (): Store => open()
