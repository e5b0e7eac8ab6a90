import { mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { flushFolder } from '../folder.ts'
import { lstatOf } from '../identity.ts'
import { invalid } from './document.ts'

const PARENT = '.agents'
const FOLDER = join(PARENT, 'tasks')

/** The folder of the task files. It may be missing. Links to folders are not followed. */
export class TaskFolder {
  readonly path: string
  readonly #data: string

  constructor(data: string) {
    this.#data = data
    this.path = join(data, FOLDER)
  }

  check(within = '.'): void {
    for (const name of [PARENT, FOLDER, ...(within === '.' ? [] : [join(FOLDER, within)])]) {
      const found = lstatOf(join(this.#data, name))
      if (!found) return
      if (found.isDirectory()) continue
      const what = found.isSymbolicLink() ? 'a link, which is not followed' : 'no folder'
      throw invalid(`it is ${what}`, name.replaceAll('\\', '/'))
    }
  }

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
    this.check(within)
  }
}
