/** A settings file that cannot be read or merged. The message omits the file's name; callers add it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** A settings file whose form does not allow a safe edit. */
export class UnsafeForm extends SettingsError {}
