// What publint and arethetypeswrong find in a package: node package.mjs FOLDER TARBALL. Prints a list of problems.
// It is an ES module: that CommonJS cannot load it is meant so, and Node 10 knew no `exports`.
import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'

const [folder, tarball] = process.argv.slice(2)
const { messages } = await publint({ pkgDir: folder, pack: false, strict: true })
const types = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
const meant = problem => ['node10', 'node16-cjs'].includes(problem.resolutionKind)
const problems = types.types ? types.problems.filter(problem => !meant(problem)) : []
console.log(JSON.stringify([...messages, ...problems]))
