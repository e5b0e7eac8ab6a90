import { closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { flushFolder } from '../folder.ts'
import { type Identity, isSameFile, lstatOf } from '../identity.ts'
import { StoreError } from '../store-error.ts'
import { invalid } from './document.ts'

const PARENT = '.agents'
const FOLDER = join(PARENT, 'tasks')

/** The folder of the task files. Links to folders are not followed, and it must stay the folder that was seen first. */
export class TaskFolder {
  readonly path: string
  readonly #data: string
  /** Keeps the inode number from being given to another. */
  #handle: number | undefined
  #seen: Identity | undefined
  #lost: StoreError | undefined

  constructor(data: string) {
    this.#data = data
    this.path = join(data, FOLDER)
  }

  /** Throws if it was deleted or replaced; or if it, its parent or the folder `within` is something else than a folder. */
  check(within = '.'): void {
    if (this.isLost()) throw this.#lost
    if (!this.#seen) this.#see()
    if (within !== '.') this.#entry(join(FOLDER, within))
  }

  /** Whether it was deleted or replaced since it was seen first. That is final. */
  isLost(): boolean {
    if (!this.#lost && this.#seen) this.#lost = this.#loss(this.#seen)
    return this.#lost !== undefined
  }

  /** Creates the folder, and the one `within`, if they do not exist. */
  make(within: string): void {
    this.check(within)
    const folder = join(this.path, within)
    const first = mkdirSync(folder, { recursive: true })
    if (first === undefined) return
    const parent = dirname(resolve(first))
    for (let made = resolve(folder); ; made = dirname(made)) {
      flushFolder(made)
      if (made === parent) break
    }
    this.check()
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }

  #see(): void {
    if (!this.#entry(PARENT)) return
    this.#seen = this.#entry(FOLDER)
    // Windows cannot open a folder.
    if (!this.#seen || process.platform === 'win32') return
    this.#handle = openSync(this.path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    this.#seen = fstatSync(this.#handle, { bigint: true })
  }

  /** The folder of that name, if it exists. */
  #entry(name: string): Identity | undefined {
    const found = lstatOf(join(this.#data, name))
    if (!found || found.isDirectory()) return found
    const what = found.isSymbolicLink() ? 'a link, which is not followed' : 'no folder'
    throw invalid(`it is ${what}`, name.replaceAll('\\', '/'))
  }

  #loss(seen: Identity): StoreError | undefined {
    const found = lstatOf(this.path)
    if (isSameFile(found, seen) && lstatOf(dirname(this.path))?.isDirectory()) return undefined
    const message =
      'The folder of the task files was deleted or replaced. Restart the server; nothing can be saved until then.'
    const cause = found ? 'it is another one now' : 'it is gone'
    return new StoreError('replaced', message, { cause, file: FOLDER.replaceAll('\\', '/') })
  }
}
