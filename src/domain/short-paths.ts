const PROGRAMS = /^(?:.*\/)?node_modules\/\.bin(?=\/)/

/** Shortens paths for a sentence: programs of packages become one entry per folder, with their number. */
export function shortPaths(paths: readonly string[]): readonly string[] {
  const byFolder = Map.groupBy(paths, path => PROGRAMS.exec(path)?.[0] ?? path)
  return [...byFolder].map(([folder, [first = folder, ...more]]) =>
    more.length === 0 ? first : `${folder} (${more.length + 1} files)`,
  )
}
