const PROGRAMS = /^(?:.*\/)?node_modules\/\.bin(?=\/)/

/**
 * A file that changed since the plan was approved, although the step may not change it. A type, so that it is
 * assignable to `Json`.
 */
export type FileChange = {
  readonly path: string
  /**
   * `outside`: no step of the plan may change it. `protected`: it decides what checks mean, and the step's own scope
   * does not have it. `own`: protected, and in the step's own scope. `git`: files as a newer commit has them.
   */
  readonly is: 'outside' | 'protected' | 'own' | 'git'
  /** A hash of its content; absent if it is gone. */
  readonly hash?: string
  /** The number of files that it stands for. */
  readonly files?: number
}
/** A file, or files of a commit, whose change a person accepted. */
export type AcceptedFile = Pick<FileChange, 'path' | 'hash'>

/** The changes of one run as another task with the same check sees them, or without an id the plan itself. */
export interface OtherChanges {
  readonly task_id?: string
  readonly changes: readonly FileChange[]
}

/** Changes for a sentence. */
export const changesText = (changes: readonly FileChange[]): readonly string[] =>
  shortPaths(
    changes.map(({ path, is, files = 1 }) =>
      is === 'git' ? `from git: ${files} file${files === 1 ? '' : 's'}` : path,
    ),
  )

/** Shortens paths for a sentence: programs of packages become one entry per folder, with their number. */
export function shortPaths(paths: readonly string[]): readonly string[] {
  const byFolder = Map.groupBy(paths, path => PROGRAMS.exec(path)?.[0] ?? path)
  return [...byFolder].map(([folder, [first = folder, ...more]]) =>
    more.length === 0 ? first : `${folder} (${more.length + 1} files)`,
  )
}
