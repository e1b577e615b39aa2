/** What each scope lets a key do. Written by `deno task docs` from the table of routes. */
export const SCOPES_HELP = `\
                               read: list files, read files and their versions, compare versions, export folders,
                                 see branches, follow changes and runs, list links, and search files
                               write: create and change files, delete files and folders, restore earlier versions,
                                 copy and move files and folders, create, change and merge branches, undo runs,
                                 and create and end links
                               admin: see which key did what, erase files and versions for good, rename the
                                 project and choose which versions are kept, delete the project with everything in
                                 it, see the usage of each key, list, change, rotate and revoke keys, create keys
                                 with any scope, and list, create, change and delete webhooks`;
