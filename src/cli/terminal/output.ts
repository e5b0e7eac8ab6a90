import { once } from 'node:events'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Contents } from '../../store/backup.ts'
import { createPrivateFile, flushFolder, linkOrRename } from '../../store/private-file.ts'
import { CliError } from '../cli-error.ts'

/** `1 event`, `2 events`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

export const contentsText = ({ conversations, events, templates, taskFiles }: Contents): string =>
  [
    counted(conversations, 'conversation'),
    counted(events, 'event'),
    counted(templates, 'template'),
    ...(taskFiles > 0 ? [counted(taskFiles, 'task file')] : []),
  ].join(', ')

export interface Output {
  write(text: string): Promise<void>
  finish(): Promise<void>
  discard(): void
}

/** A private file that gets its name only when complete. */
export class OutputFile implements Output {
  readonly #path: string
  readonly #force: boolean
  readonly #temporary: string
  readonly #file: number

  /** `force` allows replacing a file. */
  constructor(path: string, force: boolean) {
    if (!force && existsSync(path)) throw fileExists(path)
    this.#path = resolve(path)
    this.#force = force
    this.#temporary = `${this.#path}.new-${process.pid}`
    rmSync(this.#temporary, { force: true })
    createPrivateFile(this.#temporary)
    this.#file = openSync(this.#temporary, 'r+')
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }

  async finish(): Promise<void> {
    fsyncSync(this.#file)
    publish(this.#temporary, this.#path, this.#force)
  }

  discard(): void {
    closeSync(this.#file)
    rmSync(this.#temporary, { force: true })
  }
}

export class StandardOutput implements Output {
  async write(text: string): Promise<void> {
    // A closed pipe never drains.
    if (process.stdout.errored) throw process.stdout.errored
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }

  async finish(): Promise<void> {}

  discard(): void {}
}

/** Publishes a complete file atomically. Without `force` it never replaces a file that appeared meanwhile. */
export function publish(temporary: string, path: string, force: boolean): void {
  try {
    if (force) renameSync(temporary, path)
    else linkOrRename(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(path)
    throw error
  }
  flushFolder(dirname(path))
}

export const fileExists = (path: string): CliError =>
  new CliError(`${path} exists. Choose another name, or replace it with --force.`)
