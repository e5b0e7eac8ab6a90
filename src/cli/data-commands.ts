import { Argument, type Command, Option } from 'commander'
import type { Environment } from './clean-environment.ts'
import type { ExportOptions } from './export.ts'
import type { StoreOptions } from './open-store.ts'
import { dataOption, storeOption, tenantOption } from './options.ts'
import type { ReceiptOptions } from './receipt.ts'

export function addDataCommands(program: Command, environment: Environment): void {
  program
    .command('backup')
    .description('copy the plans of the data folder into one file, while a server runs')
    .addArgument(new Argument('<file>', 'the file to write'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(new Option('--force', 'replace the file if it exists'))
    .action(async (file: string, options: StoreOptions & { force?: true }) => {
      const { writeBackup } = await import('./backup.ts')
      await writeBackup({ ...options, file, environment })
    })

  program
    .command('restore')
    .description('put the plans of a backup into the data folder')
    .addArgument(new Argument('<file>', 'the backup'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(new Option('--force', 'set aside the plans that are there'))
    .action(async (file: string, options: StoreOptions & { force?: true }) => {
      const { restoreBackup } = await import('./restore.ts')
      await restoreBackup({ ...options, file, environment })
    })

  program
    .command('export')
    .description('write a conversation, or all, as JSON lines')
    .addArgument(new Argument('[session]', 'the conversation'))
    .addOption(new Option('--all', 'all conversations and templates'))
    .addOption(new Option('--out <file>', 'the file to write (default: stdout)'))
    .addOption(new Option('--force', 'replace the file if it exists'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(tenantOption())
    .action(async (session: string | undefined, options: Omit<ExportOptions, 'session' | 'environment'>) => {
      const { writeExport } = await import('./export.ts')
      await writeExport({ ...options, ...(session === undefined ? {} : { session }), environment })
    })

  program
    .command('import')
    .description('read what export has written')
    .addArgument(new Argument('<file>', 'the export'))
    .addOption(new Option('--as <id>', 'import the conversation under another id'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(tenantOption())
    .action(async (file: string, options: StoreOptions & { as?: string; tenant: string }) => {
      const { readImport } = await import('./import.ts')
      await readImport({ ...options, file, environment })
    })

  program
    .command('receipt')
    .description('print what a plan was, who confirmed it, and how each step was proven')
    .addOption(new Option('--session <id>', 'the conversation (default: the newest with a plan)'))
    .addOption(new Option('--turn <id>', 'the turn (default: the newest with a plan)'))
    .addOption(new Option('--format <format>', 'Markdown, or JSON').choices(['md', 'json']).default('md'))
    .addOption(dataOption())
    .addOption(storeOption())
    .action(async (options: Omit<ReceiptOptions, 'environment'>) => {
      const { printReceipt } = await import('./receipt.ts')
      await printReceipt({ ...options, environment })
    })

  program
    .command('verify')
    .description('check all that is stored for damage, while a server runs')
    .addOption(dataOption())
    .addOption(storeOption())
    .action(async (options: StoreOptions) => {
      const { printVerified } = await import('./verify.ts')
      await printVerified({ ...options, environment })
    })
}
