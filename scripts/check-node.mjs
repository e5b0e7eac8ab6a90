// Runs under any Node: says what to do when the one that runs the scripts is too old.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(
    `Runsheet needs Node 24.15 or newer, and this is ${process.version} (${process.platform} ${process.arch}).\n` +
      'On Linux x64 and arm64 `npm ci` brings one along: run it without --omit=optional, and start through npm (`npm start`, `npm test`).\n' +
      'Elsewhere install Node 24 from nodejs.org or with your version manager.',
  )
  process.exit(1)
}
