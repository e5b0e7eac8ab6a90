/** A settings file that cannot be read or merged. The message says what is wrong with it, without the file's name. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** A settings file that cannot be edited without changing what is not ours. */
export class UnsafeForm extends SettingsError {}
