import { Argument, type Command, Option } from 'commander'
import { ASK_FOR } from '../domain/tool-rules.ts'
import type { AddedTools, ToolsCommand } from './tools.ts'

/** These commands edit the user's own settings file. */
export function addToolsCommands(program: Command, context: ToolsCommand): void {
  const tools = program.command('tools').description('give the agent tools: a folder, or an MCP server')
  const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
  tools
    .command('add')
    .description('add a folder, or an MCP server')
    .addArgument(new Argument('[name]', "what to call it (default: the folder's name)"))
    .addArgument(new Argument('[command...]', 'after --: the command that starts the server'))
    .addOption(new Option('--folder <path>', 'the files in this folder, to read and write'))
    .addOption(new Option('--url <url>', 'an MCP server over HTTP'))
    .addOption(new Option('--header <name:value>', 'sent to it; repeatable').argParser(repeated))
    .addOption(new Option('--env <name=value>', 'a variable of the command; repeatable').argParser(repeated))
    .addOption(
      new Option('--ask <which>', 'which calls you have to allow (default: all; of a folder, changes)').choices(
        ASK_FOR,
      ),
    )
    .addOption(new Option('--replace', 'replace a server of this name'))
    .action(async (name: string | undefined, words: readonly string[], options: AddedTools) => {
      const { addTools } = await import('./tools.ts')
      addTools(name, words, options, context)
    })
  tools
    .command('list')
    .description('print the MCP servers in your own settings')
    .action(async () => {
      const { listTools } = await import('./tools.ts')
      listTools(context)
    })
  tools
    .command('remove')
    .description('remove an MCP server from your own settings')
    .addArgument(new Argument('<name>', 'the server'))
    .action(async (name: string) => {
      const { removeTools } = await import('./tools.ts')
      removeTools(name, context)
    })
  program
    .command('folder', { hidden: true })
    .description('serve the files of a folder over MCP, on stdin and stdout')
    .addArgument(new Argument('<path>', 'the folder'))
    .action(async (path: string) => {
      const { serveFolder } = await import('./folder-server.ts')
      serveFolder(path)
    })
}
