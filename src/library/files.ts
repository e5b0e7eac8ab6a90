import { openFileStore as open } from '../store/files/store.ts'
import type { Store } from './runsheet.ts'

/**
 * Opens a folder with one JSON file per conversation in `.agents/tasks/`, which people and other programs may edit.
 * Anyone who can write these files is trusted: a task they mark as done is done, without a review.
 */
export const openFileStore = (folder: string): Promise<Store> => open({ data: folder })
