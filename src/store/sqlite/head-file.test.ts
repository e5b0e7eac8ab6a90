import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { HeadFile, headPath, readHead } from './head-file.ts'

const NOTHING = { events: 0, templates: 0 }

let folder: string
let path: string
let open: HeadFile[]
beforeEach(() => {
  folder = scratchFolder()
  path = join(folder, 'runsheet.db')
  open = []
})
afterEach(() => {
  for (const head of open) head.close()
  rmSync(folder, { recursive: true })
})

/** As a process of its own would. */
function begun(): HeadFile {
  const head = new HeadFile(path, 'a'.repeat(32))
  open.push(head)
  head.begin()
  return head
}

const written = (): unknown => readHead(path)?.written

it('[SQ15] notes of several processes that come out of order never say less', () => {
  const [one, two] = [begun(), begun()]
  two.note({ events: 12, templates: 0 })
  one.note({ events: 10, templates: 0 })
  expect(written()).toEqual({ events: 12, templates: 0 })
  one.note({ events: 0, templates: 3 })
  expect(written()).toEqual({ events: 12, templates: 3 })
})

it('[SQ15] what a process noted outlasts it, whether it frees its place or is killed', () => {
  const [one, two, killed] = [begun(), begun(), begun()]
  killed.note({ events: 30, templates: 0 })
  two.note({ events: 20, templates: 0 })
  two.release()
  begun().note({ events: 25, templates: 0 })
  one.release()
  expect(written()).toEqual({ events: 30, templates: 0 })
  const { size } = statSync(headPath(path))
  begun().note({ events: 31, templates: 0 })
  // Freed places are taken again.
  expect([written(), statSync(headPath(path)).size]).toEqual([{ events: 31, templates: 0 }, size])
})

it('[SQ15] says nothing before the first commit', () => {
  begun()
  expect(readHead(path)).toEqual({ database: 'a'.repeat(32), written: NOTHING, checked: 0 })
})

it('[SQ15] a seal counts until the next write', () => {
  const head = begun()
  head.note({ events: 5, templates: 0 })
  head.seal({ size: 4_096, crc: 77 }, 5, { events: 5, templates: 0 })
  expect(readHead(path)).toMatchObject({ seal: { size: 4_096, crc: 77 }, checked: 5, written: { events: 5 } })
  begun()
  expect(readHead(path)).toEqual({ database: 'a'.repeat(32), written: { events: 5, templates: 0 }, checked: 5 })
})

it('[SQ15] a damaged record is not trusted, and its place is not given to another process', () => {
  const one = begun()
  one.note({ events: 9, templates: 0 })
  const file = openSync(headPath(path), 'r+')
  writeSync(file, Buffer.from([0xff]), 0, 1, 256 + 3)
  closeSync(file)
  expect(written()).toEqual(NOTHING)
  begun().note({ events: 8, templates: 0 })
  one.note({ events: 10, templates: 0 })
  expect(written()).toEqual({ events: 10, templates: 0 })
})

it('[SQ15] a file that is no head file says nothing', () => {
  closeSync(openSync(headPath(path), 'w'))
  expect(readHead(path)).toBeUndefined()
})
