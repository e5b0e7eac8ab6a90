import type { RunnableSpec, WithPrograms } from '../core/proof/check.ts'
import {
  DEFAULT_PROTECT,
  changesOutOfScope,
  coversBoth,
  differing,
  fromGit,
  unknownChange,
  watchedBy,
  type Covers,
  type SeenFiles,
} from './scope.ts'
import type { FileChange } from '../core/proof/file-change.ts'
import type { Scopes } from '../core/proof/scope.ts'
import { blobIdOf, builtFiles, committedBlobs, headOf } from './git.ts'
import {
  filesOf,
  globsOf,
  hashFiles,
  literal,
  stampOf,
  stampsOf,
  type FileHasher,
  type FileHashes,
  type FilesRequest,
} from './files.ts'
import { fingerprint, type FingerprintRequest } from './fingerprint.ts'
import { filesIn, type PlanRecord, type Records } from './record.ts'

export interface LookRequest extends Omit<FilesRequest, 'globs' | 'paths'>, FingerprintRequest {
  /** Globs of the settings, which count even for build output. */
  readonly protect: readonly string[]
  readonly covers: Covers
  /** The records to compare with later; null for one that could not be taken. */
  readonly records: readonly (string | null)[]
  readonly recordFolder: string
}

export interface Look {
  /** Names it in a comparison. */
  readonly id: number
  readonly fingerprint: string | undefined
  /** For each record, files that these globs match and that differ from it; undefined if that cannot be told. */
  readonly unlike: readonly string[] | undefined
}

export interface CompareRequest {
  readonly before: number
  /** Undefined: nothing ran in between. */
  readonly after: LookRequest | undefined
  readonly check?: WithPrograms<RunnableSpec>
  /** For each record of the look before. */
  readonly scopes: readonly Scopes[]
  /** Begins or continues the plan's record with the files after this run, which the check may have written. */
  readonly isFirst: boolean
}

export interface Comparison {
  /** For each of the scopes. */
  readonly changes: readonly (readonly FileChange[])[]
  /** There were too many files: only protected files and those that checks name were compared. */
  readonly isPartial: boolean
  /** The plan's record, if this began it or added to it; null: the files are too many. */
  readonly record?: string | null
}

interface Seen {
  readonly request: LookRequest
  readonly covers: Covers
  readonly fingerprint: string | undefined
  /** Files that git lists, if they are not too many. */
  readonly listed: FileHashes | undefined
  /** Undefined if even the protected files are too many. */
  readonly all: SeenFiles | undefined
}

const MAX_SEEN = 8
const TOO_MANY = 'more protected files than can be watched'
const NO_RECORD = 'any file: the record of the files as they were at the approval is missing'

/** Looks at workspaces and compares looks. Reads thousands of files synchronously, so it runs in a worker. */
export class Surveyor {
  readonly #hasher: FileHasher
  readonly #records: Records
  readonly #seen = new Map<number, Seen>()
  #lastId = 0

  constructor(hasher: FileHasher, records: Records) {
    this.#hasher = hasher
    this.#records = records
  }

  look(request: LookRequest, unchanged?: readonly string[]): Look {
    const seen = this.#see(request)
    this.#lastId += 1
    this.#seen.set(this.#lastId, seen)
    const [oldest] = this.#seen.keys()
    if (this.#seen.size > MAX_SEEN && oldest !== undefined) this.#seen.delete(oldest)
    const record = unchanged && this.#recordOf(request, 0)
    const unlike =
      record && seen.all && differing(filesIn(record), seen.all.files).filter(globsOf(unchanged).matches).sort()
    return { id: this.#lastId, fingerprint: seen.fingerprint, unlike }
  }

  compare({ before: id, after: request, check, scopes, isFirst }: CompareRequest): Comparison {
    const before = this.#seen.get(id)
    if (!before) throw new Error('The survey before the run is gone.')
    this.#seen.delete(id)
    const after = request ? this.#see(request) : before
    const known = this.#recordOf(before.request, 0)
    const isPartial = !before.listed || !after.listed || known?.listed === undefined
    if (isFirst || before.request.records[0] === undefined) {
      const taken = isFirst ? this.#taken(before, after, known) : this.#taken(before, before, undefined)
      return { changes: scopes.map(() => []), isPartial: !after.listed, record: taken }
    }
    const added = known && this.#added(before, known)
    return {
      changes: scopes.map((each, index) => (check ? this.#changes(before, after, check, index, each) : [])),
      isPartial,
      ...(added === undefined ? {} : { record: added }),
    }
  }

  #see(request: LookRequest): Seen {
    const { root, git, protect, records, also = [] } = request
    const known = records.flatMap((_, index) => this.#recordOf(request, index) ?? [])
    const covers = known.reduce((sum, record) => coversBoth(sum, record.covers), request.covers)
    const watched = watchedBy(covers)
    const listed = new Map<string, string>()
    const stamps = new Map<string, string>()
    // A file that git ignores since the plan was approved still counts.
    const print = fingerprint(
      { ...request, also: [...also, ...known.flatMap(record => Object.keys(record.listed ?? {}))] },
      this.#hasher,
      (path, hash, stats) => {
        listed.set(path, hash)
        if (stats) stamps.set(path, stampOf(stats))
      },
    )
    const isWhole = print !== undefined
    const found = filesOf({
      ...request,
      globs: [...DEFAULT_PROTECT, ...protect, ...watched.globs],
      paths: watched.paths,
    })
    const built = builtFiles(root, git, found ?? [], [...protect, ...covers.globs, ...covers.words.map(literal)])
    const hashed =
      found &&
      hashFiles(
        request,
        found.filter(path => !built.has(path)),
        this.#hasher,
      )
    const files = hashed && new Map([...hashed, ...(isWhole ? listed : [])])
    return {
      request,
      covers,
      fingerprint: print,
      listed: isWhole ? listed : undefined,
      all: files && { files, stamps: stampsOf(root, files.keys(), stamps), rules: new Set(built.values()) },
    }
  }

  #changes(
    before: Seen,
    after: Seen,
    check: WithPrograms<RunnableSpec>,
    index: number,
    scopes: Scopes,
  ): readonly FileChange[] {
    const { root, git, protect } = before.request
    // Without a fingerprint, only this run can be accepted.
    const now = after.fingerprint ?? `${process.hrtime.bigint()}`
    if (!before.all || !after.all) return [unknownChange(TOO_MANY, now)]
    const record = this.#recordOf(before.request, index)
    if (!record) return [unknownChange(NO_RECORD, now)]
    const isPartial = !before.listed || !after.listed || !record.listed
    const compared = { check, root, protect, before: before.all, after: after.all, isPartial }
    const changes = changesOutOfScope(compared, record, scopes)
    if (!git || !record.commit || !changes.some(({ is }) => is === 'outside')) return changes
    const commit = headOf(root, git)
    if (commit === undefined || commit === record.commit) return changes
    const blobs = committedBlobs(root, git, commit)
    return fromGit(changes, commit, ({ path }) => blobs.get(path) === blobIdOf(root, path, commit.length))
  }

  /** Files as they are after a first run, and what the first runs have written. */
  #taken({ all: before }: Seen, after: Seen, known: PlanRecord | undefined): string | null {
    const { root, git, recordFolder } = after.request
    if (!before || !after.all) return null
    const { files, stamps } = after.all
    const { listed } = after
    const written = [...differing(before.files, files), ...differing(before.stamps, stamps)]
    return this.#records.write(recordFolder, {
      commit: git && headOf(root, git),
      covers: after.covers,
      listed: listed && Object.fromEntries(listed),
      watched: Object.fromEntries([...files].filter(([path]) => !listed?.has(path))),
      written: [...new Set([...(known?.written ?? []), ...written])].sort(),
    })
  }

  /** A check that was approved later may name files that the record does not know. Known files keep their hashes. */
  #added({ request, covers, all, listed }: Seen, known: PlanRecord): string | undefined {
    const words = covers.words.filter(word => !known.covers.words.includes(word))
    const globs = covers.globs.filter(glob => !known.covers.globs.includes(glob))
    if (!all || words.length + globs.length === 0) return undefined
    const before = watchedBy(known.covers)
    const wasWatched = globsOf([...DEFAULT_PROTECT, ...request.protect, ...before.globs]).matches
    const isNew = (path: string): boolean =>
      !listed?.has(path) && !wasWatched(path) && !before.paths.includes(path) && !(path in known.watched)
    const more = [...all.files].filter(([path]) => isNew(path))
    return this.#records.write(request.recordFolder, {
      ...known,
      covers,
      watched: { ...known.watched, ...Object.fromEntries(more) },
    })
  }

  #recordOf({ records, recordFolder }: LookRequest, index: number): PlanRecord | undefined {
    const id = records[index]
    return id === undefined || id === null ? undefined : this.#records.read(recordFolder, id)
  }
}
