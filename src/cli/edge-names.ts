import type { Origin } from '../domain/origin.ts'

export const EDGES: Record<Origin['edge'], string> = {
  page: 'page',
  http: 'HTTP',
  mcp: 'MCP',
  mcp_form: 'MCP form',
  mcp_link: 'MCP link',
  terminal: 'terminal',
  library: 'library',
  turn: 'turn',
  file: 'task file',
  system: 'by itself',
}
