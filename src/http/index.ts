export { createHttpServer } from './server.ts'
export type { HttpServer, ServerOptions } from './server.ts'
export type { Turns } from './route.ts'
