import { lookAt } from '../../src/checks/look.ts'
import { changesOutOfScope, type SeenFiles, watchedBy } from '../../src/checks/scope.ts'
import type { FileHashes } from '../../src/checks/files.ts'
import { LocalWorkspaces } from '../../src/runner/local-workspaces.ts'

type Run = LocalWorkspaces['run']

/** Compares changes with scopes instead of the inferred guarded files. One plan, whose steps share a scope. */
export function scoped<T extends new (options: never) => LocalWorkspaces>(
  Base: T,
  scope: readonly string[] | undefined,
) {
  return class extends (Base as unknown as typeof LocalWorkspaces) {
    #files: FileHashes | undefined
    readonly #written = new Set<string>()
    #hasBegun = false

    override async run(...[check, options]: Parameters<Run>): ReturnType<Run> {
      if (check.kind === 'person') return super.run(check, options)
      const { workspace, mayChange, also } = options
      const root = workspace.path
      const place = { workspace, wrap: [], env: { PATH: process.env['PATH'] ?? '' }, dataFolder: '/nowhere' }
      const { globs: protect, paths } = watchedBy(check, root, [])
      const look = async (): Promise<SeenFiles> => {
        const { files = [], all = [], stamps, rules } = await lookAt([], { ...place, protect, also, paths }, 'all')
        return { files: new Map([...files, ...all]), stamps: stamps ?? new Map(), rules }
      }
      const isFirst = options.onWritten !== undefined
      this.#hasBegun ||= !isFirst
      const before = await look()
      const { guarded: _guarded, guard: _guard, ...outcome } = await super.run(check, options)
      const after = await look()
      if (isFirst && !this.#hasBegun) {
        for (const [path, hash] of after.files) if (before.files.get(path) !== hash) this.#written.add(path)
        this.#files = new Map([...(this.#files ?? []), ...after.files])
      }
      this.#files ??= before.files
      const own = mayChange.length > 0 ? [...(scope ?? []), ...mayChange] : scope
      const scopes = { own, begun: [own, ...(mayChange.length > 0 && !scope ? [undefined] : [])] }
      const plan = { files: this.#files, written: this.#written }
      const found = changesOutOfScope(check, root, [], scopes, plan, { before, after })
      const guarded = [...found.outside, ...found.own]
      return guarded.length > 0 ? { ...outcome, guarded, guard: guarded.join('\n') } : outcome
    }
  }
}
