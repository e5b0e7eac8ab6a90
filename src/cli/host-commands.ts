import { Argument, type Command, Option } from 'commander'
import { HOST_NAMES, type HostName } from '../setup/host.ts'
import type { Environment } from './clean-environment.ts'
import type { SetupChoices } from './setup.ts'

export interface HostCommandOptions {
  readonly environment: Environment
  readonly invocation: string
  readonly secrets: () => { readonly token?: string }
}

export function addHostCommands(program: Command, { environment, invocation, secrets }: HostCommandOptions): void {
  program
    .command('setup')
    .description("add Runsheet to a host's settings, or take it out")
    .addArgument(new Argument('<host>', 'the host').choices(HOST_NAMES))
    .addOption(
      new Option('--scope <scope>', 'for you in every project, or for everyone in this one')
        .choices(['user', 'project'])
        .default('user'),
    )
    .addOption(new Option('--print', 'print what would change, and change nothing').conflicts('yes'))
    .addOption(new Option('--remove', 'take out what setup put in'))
    .addOption(new Option('--yes', 'do not ask'))
    .addOption(new Option('--data <folder>', 'data folder (default: ~/.runsheet; with --scope project .runsheet)'))
    .addOption(new Option('--gate', 'keep the agent at open tasks (default: as set up before, else on)'))
    .addOption(new Option('--no-gate', 'let the agent stop while tasks are open'))
    .addOption(new Option('--evidence', "record results of the host's tools (default: likewise)"))
    .addOption(new Option('--no-evidence', "do not record results of the host's tools"))
    .addOption(new Option('--digest', 'remind the agent of the plan (default: likewise)'))
    .addOption(new Option('--no-digest', 'do not remind the agent of the plan'))
    .action(async (host: HostName, choices: SetupChoices) => {
      const { setUp } = await import('./setup.ts')
      const terminal = { input: process.stdin, output: process.stdout }
      await setUp({ ...choices, ...secrets(), host, environment, invocation, cwd: process.cwd() }, terminal)
    })

  program
    .command('doctor')
    .description('check the hosts that are set up, and say what to do')
    .addArgument(new Argument('[host]', 'the host (default: all that are set up)').choices(HOST_NAMES))
    .action(async (host: HostName | undefined) => {
      const { examine } = await import('./doctor.ts')
      const isWell = await examine({ ...(host ? { host } : {}), environment, invocation, cwd: process.cwd() })
      if (!isWell) process.exitCode = 1
    })
}
