import { inspect } from 'node:util'
import { Command, CommanderError } from 'commander'
import { redactor } from '../core/text/redact.ts'
import { visible } from '../core/text/plain-text.ts'
import { CliError } from './cli-error.ts'
import { addCommands } from './commands.ts'
import { invocation, programFile, version } from './invocation.ts'
import { SECRETS } from './options.ts'

interface ProgramOptions {
  /** The arguments as Node gives them, with those of Node itself. */
  readonly argv: readonly string[]
  readonly execArgv: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  /** This program, as others start it. */
  readonly file?: string
}

/** Runs a command. Prints an error in one line, and sets the exit code. */
export async function runProgram({ argv, execArgv, environment, file = programFile() }: ProgramOptions): Promise<void> {
  const redact = redactor({ known: Object.values(SECRETS).map(name => environment[name] ?? '') })
  const fail = (message: string, exitCode: number): void => {
    console.error(visible(redact.line(`runsheet: ${message.replaceAll(/\s*\n\s*/g, ' ')}`)))
    process.exitCode = exitCode
  }
  const cwd = workingFolder()
  // Every relative path depends on it.
  if (cwd === undefined) return fail('the current folder was deleted or cannot be read. Change to another one.', 1)
  // An empty variable counts as unset.
  for (const name of Object.keys(environment))
    if (name.startsWith('RUNSHEET_') && !environment[name]) delete environment[name]
  const here = invocation({ path: environment['PATH'] ?? '', cwd })
  const program = new Command('runsheet')
    .description('The plan an AI agent works from and a person can trust.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .showSuggestionAfterError(false)
    .addHelpText('after', `\nFor the options of a command: ${here} serve --help`)
  addCommands(program, { environment, invocation: here, argv, execArgv, file })
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) fail(usageProblem(error, program, argv[2], here), 2)
    } else if (error instanceof CliError) fail(error.message, 1)
    else if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exitCode = 0
    else {
      console.error(redact.block(inspect(error)))
      process.exitCode = 1
    }
  }
}

function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}

/** Commander's message without its prefix, plus a pointer to the help. */
function usageProblem(
  { code, message }: CommanderError,
  program: Command,
  first: string | undefined,
  here: string,
): string {
  const command = program.commands.find(each => each.name() === first)?.name()
  const help = `Try: ${here} ${command ?? 'serve'} --help`
  const [, option] = /^error: unknown option '(.*)'$/s.exec(message) ?? []
  const [, word] = /^error: too many arguments .* got \d+: (.*)\.$/s.exec(message) ?? []
  if (code === 'commander.unknownOption') return `unknown option: ${option}. ${help}`
  if (code !== 'commander.excessArguments') return `${message.replace(/^error: /, '').replace(/\.$/, '')}. ${help}`
  return command ? `unexpected argument: ${word}. ${help}` : `unknown command: ${word}. Try: ${here} --help`
}
