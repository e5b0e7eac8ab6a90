/**
 * Whether a command ends the same whatever was done. A courtesy that knows the usual ways to do nothing, not a guarantee: what
 * it lets through passes from the start, and so proves nothing (red first).
 */
export function provesNothing(run: readonly string[]): boolean {
  const [program = '', ...args] = withoutWrappers(run)
  const name = nameOf(program)
  if (name === 'test' || name === '[') return !args.some(arg => FILE_TEST.test(arg))
  return NO_OPS.has(name)
}

const NO_OPS: ReadonlySet<string> = new Set(['', ':', 'echo', 'exit', 'false', 'printf', 'pwd', 'set', 'sleep', 'true'])
/** Without an operator that looks at files, `test` compares its own words. */
const FILE_TEST = /^-([a-hkprstuwxGLNOS]|nt|ot|ef)$/

/** Programs that run another one, and those of their options that take the next word. */
const WRAPPERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['builtin', []],
  ['command', []],
  ['env', ['-u', '--unset', '-C', '--chdir']],
  ['exec', ['-a']],
  ['nice', ['-n', '--adjustment']],
  ['nohup', []],
  ['setsid', []],
  ['time', []],
  ['timeout', ['-k', '--kill-after', '-s', '--signal']],
])
/** What stands before the command in a wrapper: an option, a variable, a duration. */
const SETTING = /^-|^\w+=|^\d+(\.\d+)?[smhd]?$/

/** The command that is run in the end. */
export function withoutWrappers(run: readonly string[]): readonly string[] {
  const [wrapper = '', ...words] = run
  const valued = WRAPPERS.get(nameOf(wrapper))
  if (!valued) return run
  let at = 0
  while (SETTING.test(words[at] ?? '')) at += valued.includes(words[at] ?? '') ? 2 : 1
  return withoutWrappers(words.slice(at))
}

/** The name of a program, or of one of the system: a path elsewhere may lead to anything. */
const nameOf = (program: string): string => program.replace(/^(\/usr(\/local)?)?\/bin\//, '')
