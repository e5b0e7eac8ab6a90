import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { partsOf } from '../src/cli/import.ts'
import { type Conversation, emptyConversation, fold, listed } from '../src/core/model/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../src/core/model/event.ts'
import { Refusal } from '../src/core/model/refusal.ts'
import { freeze } from '../src/core/model/snapshot.ts'
import { templateOf } from '../src/core/model/template.ts'
import { add, confirm, finish, note, openTurn, propose, run, startTurn } from './store/contract.ts'
import { openFileStore } from '../src/store/files/store.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { FullStore, Ref } from '../src/store/store.ts'
import { inLongRun, NO_SETTINGS, runProcess } from './support/children.ts'
import { runHere } from './support/in-process.ts'
import { wholeLog } from './support/ledger.ts'
import { freshDatabase } from './support/postgres.ts'
import { scratchFolder } from './support/scratch.ts'
import { CORPUS, corpusLog } from './support/corpus.ts'

const ref: Ref = { tenant: 'local', conversation: 'c1' }

let scratch: string
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => rmSync(scratch, { recursive: true }))

const at = (name: string): string => join(scratch, name)
const read = (name: string): string => readFileSync(at(name), 'utf8')

async function said(...args: readonly string[]): Promise<{ code: number | null; out: string; stderr: string }> {
  const { code, out, err: stderr } = await runHere(args, { cwd: scratch })
  return { code, out, stderr }
}

/** Runs a command that must succeed. */
async function done(...args: readonly string[]): Promise<string> {
  const { code, out, stderr } = await said(...args)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return out
}

/** Where plans can be: the options that name it, and its store. */
interface Place {
  readonly options: readonly string[]
  readonly open: () => Promise<FullStore>
}
const sqlite = (name: string): Place => ({
  options: ['--data', at(name)],
  open: () => openSqliteStore({ path: join(at(name), 'runsheet.db') }),
})
const files = (name: string): Place => ({
  options: ['--data', at(name), '--store', 'file'],
  open: () => openFileStore({ data: at(name) }),
})
async function postgres(): Promise<Place> {
  const { url, drop } = await freshDatabase(inject('postgresUrl'))
  onTestFinished(drop)
  return { options: ['--store', url], open: () => openPostgresStore({ url }) }
}

async function within<T>(place: Place, work: (store: FullStore) => Promise<T>): Promise<T> {
  const store = await place.open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const logIn = (place: Place, conversation = 'c1'): Promise<StoredEvent[]> =>
  within(place, store => wholeLog(store, { tenant: 'local', conversation }))

/** A conversation with a turn that ended, tasks, a decided and a pending review, and odd texts. */
async function written(place: Place): Promise<void> {
  await within(place, async store => {
    await store.commit(ref, run(startTurn('t1'), propose('t1', 'rev-1', 'a')))
    await store.commit(ref, run(confirm('rev-1', 'A \u{1f389} "quoted" \\ 生日', 'b')))
    await store.commit(ref, () => ({ events: [note('\u0000 \u2028 lone \ud800 text'), note('two')], value: null }))
    await store.commit(ref, run(finish('t1')))
    await store.commit({ ...ref, conversation: 'c2' }, run(openTurn('t1'), add('t1', 'of c2')))
    const template = templateOf('weekly', [{ title: 'x', priority: 'high', tags: ['t'] }])
    if (template instanceof Refusal) throw template
    await store.templates.put('local', template)
  })
}

describe('export', () => {
  it('[BK6] is a line with what follows and its checksum, then each event exactly as stored', async () => {
    const place = sqlite('data')
    await written(place)
    const out = await done('export', 'c1', ...place.options)
    const [first = '', ...lines] = out.split('\n')
    const log = await logIn(place)
    expect(lines.map(line => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(log)))
    expect(JSON.parse(first)).toEqual({
      format: 'runsheet-log',
      version: 1,
      event_version: 2,
      session_id: 'c1',
      events: log.length,
      sha256: createHash('sha256')
        .update(lines.map(line => `${line}\n`).join(''))
        .digest('hex'),
    })
  })

  it('[BK6] into a file: for its owner only, complete or not there, replaced only with --force', async () => {
    const place = sqlite('data')
    await written(place)
    await done('export', 'c1', '--out', 'c1.jsonl', ...place.options)
    expect(statSync(at('c1.jsonl')).mode & 0o777).toBe(0o600)
    const refused = await said('export', 'c2', '--out', 'c1.jsonl', ...place.options)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^runsheet: c1\.jsonl exists\.[^\n]+\n$/) })
    const missing = await said('export', 'c3', '--out', 'c3.jsonl', ...place.options)
    expect(missing).toEqual({ code: 1, out: '', stderr: 'runsheet: there is no conversation c3.\n' })
    expect(readdirSync(scratch).sort()).toEqual(['c1.jsonl', 'data'])
    await done('export', 'c2', '--out', 'c1.jsonl', '--force', ...place.options)
    expect(read('c1.jsonl')).toContain('of c2')
  })

  it('[BK6] of JSON files has what another program wrote into the file', async () => {
    const place = files('data')
    await written(place)
    const file = join(at('data'), '.agents', 'tasks', 'c2.json')
    writeFileSync(file, JSON.stringify({ tasks: [{ id: '1', title: 'of another', description: '', done: false }] }))
    expect(await done('export', 'c2', ...place.options)).toContain('of another')
    writeFileSync(file, '{')
    const { code, out, stderr } = await said('export', 'c2', ...place.options)
    expect(code).toBe(0)
    expect(out).toContain('of another')
    expect(stderr).toMatch(/c2\.json: Task file is corrupt or invalid\./)
  })
})

describe('import', () => {
  it('[BK8] from store to store to store: the same file again, byte by byte, and the same state', async ({ skip }) => {
    if (inject('postgresUrl') === '') return skip('there is no PostgreSQL on npm for this system')
    const places = [sqlite('one'), await postgres(), files('three'), sqlite('four')]
    const [first] = places
    if (!first) return
    await written(first)
    await done('export', '--all', '--out', 'export-0', ...first.options)
    for (const [index, place] of places.slice(1).entries()) {
      expect(await done('import', `export-${index}`, ...place.options)).toMatch(
        /^Imported 2 conversations, \d+ events to /,
      )
      await done('export', '--all', '--out', `export-${index + 1}`, ...place.options)
      expect(read(`export-${index + 1}`)).toBe(read('export-0'))
      const [log, state] = await within(
        place,
        async store => [await wholeLog(store, ref), await store.load(ref)] as const,
      )
      expect(freeze(state)).toBe(freeze(fold(emptyConversation('c1'), log)))
    }
    expect(await logIn(sqlite('four'))).toEqual(await logIn(first))
    expect(readFileSync(join(at('three'), '.agents', 'tasks', 'c2.json'), 'utf8')).toContain('of c2')
  })

  it('refuses a conversation that is there, and a task file of its name', async () => {
    const place = files('data')
    await written(place)
    await done('export', 'c1', '--out', 'c1.jsonl', ...place.options)
    expect(await said('import', 'c1.jsonl', ...place.options)).toEqual({
      code: 1,
      out: '',
      stderr: 'runsheet: there is a conversation c1 already. Import it under another id with --as.\n',
    })
    const other = files('other')
    await within(other, async store => store.load(ref))
    const tasks = join(at('other'), '.agents', 'tasks')
    await within(other, store => store.commit({ ...ref, conversation: 'c5' }, run(openTurn('t'), add('t', 'x'))))
    writeFileSync(join(tasks, 'c1.json'), '{ "tasks": [] }')
    const { code, stderr } = await said('import', 'c1.jsonl', ...other.options)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^runsheet: cannot import c1\.jsonl: There is a task file of this name already[^\n]+\n$/)
    expect(await logIn(other)).toEqual([])
  })

  it('--as makes a copy with new ids for tasks and reviews, wherever they stand, and no other change', async () => {
    const place = sqlite('data')
    await written(place)
    const known = (await logIn(place)).flatMap(event => (event.type === 'task_created' ? [event.data.task.id] : []))
    const mentions = `task ${known[0]} of c1`
    await within(place, store => store.commit(ref, () => ({ events: [note(mentions)], value: null })))
    await done('export', 'c1', '--out', 'c1.jsonl', ...place.options)
    await done('import', 'c1.jsonl', '--as', 'copy', ...place.options)
    const [log, copy] = [await logIn(place), await logIn(place, 'copy')]
    expect(copy.map(({ type, seq, timestamp, turn_id }) => [type, seq, timestamp, turn_id])).toEqual(
      log.map(({ type, seq, timestamp, turn_id }) => [type, seq, timestamp, turn_id]),
    )
    const text = JSON.stringify(copy)
    for (const id of [...known, 'rev-1']) expect(text).not.toContain(`"${id}"`)
    expect(text).not.toContain(`"session_id":"c1"`)
    const [newId] = copy.flatMap(event => (event.type === 'task_created' ? [event.data.task.id] : []))
    expect(copy.at(-1)).toMatchObject({ data: { text: `task ${newId} of c1` } })
    await within(place, async store => {
      const [original, copied] = [await store.load(ref), await store.load({ ...ref, conversation: 'copy' })]
      const shown = (state: typeof original) =>
        listed(state).map(({ title, number, status }) => [title, number, status])
      expect(shown(copied)).toEqual(shown(original))
      const { items } = await store.queries.waiting('local', 'copy', { limit: 10 })
      expect(items).toHaveLength(original.pending_reviews.length)
    })
    const again = await said('import', 'c1.jsonl', '--as', 'copy', ...place.options)
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('there is a conversation copy already') })
  })

  it('--as refuses a conversation whose turn was running: its work would be done twice', async () => {
    const place = sqlite('data')
    await within(place, store => store.commit(ref, run(startTurn('t1'))))
    await done('export', 'c1', '--out', 'c1.jsonl', ...place.options)
    expect(await said('import', 'c1.jsonl', '--as', 'copy', ...place.options)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^runsheet: turn t1 was running when it was exported[^\n]+\n$/),
    })
    await done('import', 'c1.jsonl', ...sqlite('other').options)
  })

  it('an archive can be imported again: what is the same is skipped, what differs refuses all of it', async () => {
    const place = sqlite('data')
    await written(place)
    await done('export', '--all', '--out', 'all.jsonl', ...place.options)
    await done('export', 'c1', '--out', 'c1.jsonl', ...place.options)
    const other = sqlite('other')
    // As an import that was killed after its first conversation would leave it.
    await done('import', 'c1.jsonl', ...other.options)
    expect(await done('import', 'all.jsonl', ...other.options)).toBe(
      'Imported 1 conversation, 3 events to SQLite; 1 conversation there already',
    )
    expect(await logIn(other, 'c2')).toEqual(await logIn(place, 'c2'))
    expect(await within(other, store => store.templates.get('local', 'weekly'))).toMatchObject({ name: 'weekly' })
    const third = sqlite('third')
    await within(third, store => store.commit({ ...ref, conversation: 'c2' }, run(openTurn('t1'), add('t1', 'x'))))
    expect(await said('import', 'all.jsonl', ...third.options)).toMatchObject({
      code: 1,
      stderr: 'runsheet: there is a conversation c2 already. It has another log; nothing was imported.\n',
    })
    expect(await logIn(third)).toEqual([])
    expect(await within(third, store => store.templates.list('local'))).toEqual([])
    const as = await said('import', 'all.jsonl', '--as', 'x', ...third.options)
    expect(as).toMatchObject({ code: 1, stderr: 'runsheet: --as is for an export of one conversation.\n' })
  })
})

describe('a file that is not as it was exported', () => {
  /** Each change to the lines of an export, and what is said about it. */
  const CHANGES: readonly [title: string, change: (lines: string[]) => string[], why: RegExp][] = [
    ['is empty', () => [], /line 1: the file ends here/],
    ['is no JSON', lines => ['{', ...lines], /line 1: it is not JSON/],
    ['is other JSON', () => ['{}'], /line 1: it is not the first line of an export/],
    ['is an empty list', () => ['[]'], /line 1: it is not the first line of an export/],
    ['has Windows line ends', lines => lines.map(line => `${line}\r`), /does not have its checksum/],
    ['has a byte order mark', lines => lines.with(0, `\uFEFF${lines[0]}`), /line 1: it is not JSON/],
    ['is something else', () => ['{"format":"other"}'], /line 1: it is not the first line of an export/],
    ['is of a newer version', edit(0, line => line.replace('"version":1', '"version":9')), /line 1: .*newer Runsheet/],
    ['has newer events', edit(0, line => line.replace('"event_version":2', '"event_version":9')), /newer Runsheet/],
    ['is cut', lines => lines.slice(0, -1), /line \d+: the file ends here/],
    ['is cut within a line', lines => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ''], /it is not JSON/],
    ['has more', lines => [...lines, lines.at(-1) ?? ''], /there is more than the first line says/],
    ['lacks a line in between', lines => lines.toSpliced(3, 1), /line 4: seq is 4, expected 3/],
    ['has a changed text', edit(-2, line => line.replace('two', 'three')), /does not have its checksum/],
    ['has a changed type', edit(2, line => line.replace('"type":"', '"type":"un')), /line 3: type/],
    ['has a field of the wrong type', edit(4, line => line.replace(/"number":\d+/, '"number":"1"')), /line \d+: /],
    [
      'has another conversation',
      edit(2, line => line.replace('"session_id":"c1"', '"session_id":"c2"')),
      /line 3: session_id is not c1/,
    ],
    [
      'goes back in time',
      edit(5, line => line.replace(/"timestamp":"2/, '"timestamp":"1')),
      /line 6: timestamp is before/,
    ],
    ['has a null for an event', edit(2, () => 'null'), /line 3: /],
  ]

  it('[BK7] is refused with the line at fault', async () => {
    const place = sqlite('data')
    await written(place)
    await done('export', 'c1', '--out', 'c1.jsonl', ...place.options)
    const lines = read('c1.jsonl').trimEnd().split('\n')
    for (const [title, change, why] of CHANGES) {
      const changed = change([...lines])
      writeFileSync(at('bad'), changed.map(line => `${line}\n`).join(''))
      expect(() => foldAll(at('bad')), title).toThrow(why)
    }
    expect(foldAll(at('c1.jsonl')).map(freeze)).toEqual([
      await within(place, async store => freeze(await store.load(ref))),
    ])
  })

  it('[BK7] is one line, and nothing is written', async () => {
    const place = sqlite('data')
    await written(place)
    await done('export', '--all', '--out', 'all.jsonl', ...place.options)
    writeFileSync(at('bad'), read('all.jsonl').trimEnd().split('\n').slice(0, -1).join('\n'))
    expect(await said('import', 'bad', ...sqlite('into').options)).toEqual({
      code: 1,
      out: '',
      stderr: expect.stringMatching(/^runsheet: cannot import bad: line \d+: the file ends here[^\n]+\n$/),
    })
    expect(existsSync(at('into'))).toBe(false)
  })
})

/** Reads an export whole, as import does before it writes. */
function foldAll(path: string): Conversation[] {
  const states: Conversation[] = []
  for (const part of partsOf(path)) {
    if ('template' in part) continue
    let next = part.events.next()
    while (!next.done) next = part.events.next()
    states.push(next.value)
  }
  return states
}

function edit(index: number, change: (line: string) => string): (lines: string[]) => string[] {
  return lines => lines.with(index, change(lines.at(index) ?? ''))
}

it('[BK7][EV3] the logs of the frozen corpus can be imported, and fold to the same states', async () => {
  const sum = (text: string): string => createHash('sha256').update(text).digest('hex')
  const sections = CORPUS.map(name => {
    const events = corpusLog(name)
    const text = events.map(event => `${JSON.stringify(event)}\n`).join('')
    const of = { session_id: name, events: events.length, sha256: sum(text) }
    return `${JSON.stringify({ format: 'runsheet-log', version: 1, event_version: EVENT_VERSION, ...of })}\n${text}`
  })
  const all = { format: 'runsheet-logs', version: 1, conversations: CORPUS.length, templates: 0, sha256: sum('') }
  writeFileSync(at('corpus.jsonl'), `${JSON.stringify(all)}\n${sections.join('')}`)
  const place = sqlite('data')
  await done('import', 'corpus.jsonl', ...place.options)
  for (const conversation of CORPUS) {
    const state = await within(place, store => store.load({ tenant: 'local', conversation }))
    expect(freeze(state)).toBe(freeze(fold(emptyConversation(conversation), corpusLog(conversation))))
  }
})

it('a log that is larger than the memory is exported and imported', async () => {
  const [place, other] = [sqlite('data'), sqlite('other')]
  const [events, length] = inLongRun([100_000, 2_000], [3_000, 20_000])
  await within(place, async store => {
    const text = 'x'.repeat(length)
    for (let left = events; left > 0; left -= 500) {
      await store.commit(ref, () => ({ events: Array.from({ length: 500 }, () => note(text)), value: null }))
    }
  })
  const main = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
  const small = async (...args: readonly string[]): Promise<void> => {
    const child = runProcess([process.execPath, '--max-old-space-size=60', main, ...args], {
      cwd: scratch,
      env: { ...process.env, ...NO_SETTINGS },
    })
    const { code, stderr } = await child.ended
    expect({ code, stderr }).toMatchObject({ code: 0 })
  }
  await small('export', 'c1', '--out', 'c1.jsonl', ...place.options)
  expect(statSync(at('c1.jsonl')).size).toBeGreaterThan(events * length)
  await small('import', 'c1.jsonl', ...other.options)
  expect(await within(other, async store => (await store.load(ref)).seq)).toBe(events)
})
