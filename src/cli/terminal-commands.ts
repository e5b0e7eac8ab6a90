import { type Command, Option } from 'commander'
import type { Environment } from './clean-environment.ts'
import { expandHome } from './default-paths.ts'
import { configOption, storeOption } from './options.ts'
import type { ReviewOptions } from './review.ts'
import type { ConfigChoice } from './settings.ts'
import type { StatusOptions } from './status.ts'

export interface TerminalCommandOptions {
  readonly environment: Environment
  readonly invocation: string
  readonly configOf: (command: Command) => ConfigChoice
  readonly words: readonly string[]
}

export function addTerminalCommands(program: Command, options: TerminalCommandOptions): void {
  const { environment, invocation, configOf, words } = options
  program
    .command('status')
    .description('print where the plan stands, and what waits for you')
    .addOption(
      new Option('--line', 'on one line, for a status bar or a prompt; empty without a plan').conflicts('json'),
    )
    .addOption(new Option('--json', 'as JSON'))
    .addOption(new Option('--session <id>', "the conversation (default: the host's, or the newest of this folder)"))
    .addOption(nearestData())
    .addOption(storeOption())
    .action(async (given: Omit<StatusOptions, 'environment' | 'invocation'> & { line?: true }) => {
      // The installed program never gets here: `bin.ts` has a faster path.
      if (given.line) await (await import('./status-line.ts')).printStatusLine(words, environment)
      const { printStatus } = await import('./status.ts')
      await printStatus({ ...given, environment, invocation })
    })

  program
    .command('review')
    .description('show the plans that wait for you, and decide them')
    .addOption(new Option('--wait', 'wait for the next one if none waits'))
    .addOption(new Option('--session <id>', 'of one conversation only'))
    .addOption(nearestData())
    .addOption(storeOption())
    .addOption(configOption())
    .action(async (given: Omit<ReviewOptions, 'environment' | 'invocation' | 'config'>, command: Command) => {
      const { reviewPlans } = await import('./review.ts')
      const terminal = { input: process.stdin, output: process.stdout }
      const config = configOf(command)
      process.exitCode = await reviewPlans({ ...given, config, environment, invocation }, terminal)
    })
}

const nearestData = (): Option =>
  new Option('--data <folder>', 'data folder (default: .runsheet if it is here, else ~/.runsheet)')
    .env('RUNSHEET_DATA')
    .argParser(expandHome)
