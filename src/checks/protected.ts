/** Everything in a test folder is protected. */
const TEST_FOLDERS =
  '**/{test,tests,spec,specs,Test,Tests,*.Tests,*[a-z]Test,*Tests,testdata,fixtures,__fixtures__,golden,goldens,expected,e2e,cypress}/**'
const LOCKFILES: readonly string[] = [
  '**/{package-lock,npm-shrinkwrap}.json',
  '**/{yarn,bun,deno,Cargo,poetry,uv,Pipfile,Gemfile,composer}.lock',
  '**/{pnpm-lock.yaml,bun.lockb,go.sum}',
]
const CODE =
  '{c,cc,cpp,cxx,h,hpp,m,mm,rs,go,zig,nim,js,cjs,mjs,jsx,ts,cts,mts,tsx,py,rb,php,pl,pm,lua,sh,bash,zsh,fish,ps1,r,R,jl,java,kt,kts,scala,groovy,cs,fs,vb,swift,dart,ex,exs,erl,hs,ml,clj,cljs,cljc,lisp,el,f90,pas,sql}'
/** Files that decide what checks mean: a step may change them only if its own scope says so. */
export const DEFAULT_PROTECT: readonly string[] = [
  TEST_FOLDERS,
  '**/*.{test,spec,test-d,e2e,e2e-spec,cy,approved,verified}.*',
  '**/*.{snap,golden,bats,feature,robot,t}',
  '**/{,*[._-]}{expected,golden}{,[_-]*}{,.{txt,json,jsonl,csv,tsv,xml,html,svg,md,yaml,yml,toml,out,log,sql,png}}',
  '**/*{Test,Tests,Spec}.{java,kt,kts,scala,groovy,cs,fs,php,swift}',
  '**/*[a-z]IT.{java,kt,groovy,scala}',
  '**/test{,ing,s}{,-,_}{util,utils,helper,helpers,support,kit,setup,data,case,cases}{.*,/**}',
  '**/setup{,-,_}{T,t}ests.*',
  '**/{__tests__,__mocks__,__*snapshots__,__*screenshots__,*-snapshots}/**',
  '**/{step_definitions,step-definitions}/**',
  '{features/{steps,support}/**,**/features/steps/*.py,**/features/environment.py}',
  '**/snapshots/**/*.{json,txt,yaml,yml,xml,html,md,csv,png,svg}',
  '**/{test*.py,*_test.*,*_spec.rb,*-test.{js,cjs,mjs,jsx,ts,cts,mts,tsx}}',
  `**/{test,tests,spec,specs,test[_-]*}.${CODE}`,
  '**/*.config.*',
  '**/.{babelrc,c8rc,mocharc,nycrc,swcrc,taprc,eslintrc,eslintignore,prettierrc,flake8,coveragerc,rspec,bazelrc}*',
  '**/.{stylelintrc,oxlintrc,jshintrc,pylintrc,markdownlint,golangci,rubocop,clang-tidy,prettierignore,stylelintignore,editorconfig}*',
  '**/.*{lint,hint,check,spell}{,rc,ignore}{,.*}',
  '**/{,*[._-]}{baseline,suppressions}{,[._-]*}.{json,xml,neon,txt,yaml,yml,toml}',
  '**/{.betterer.results,.secrets.baseline}',
  '**/{,.}{cucumber,detekt,lighthouserc,nightwatch,phpstan,psalm,size-limit,dependency-cruiser}.{js,cjs,mjs,ts,json,yaml,yml,neon,xml}{,.dist}',
  '**/{pyrightconfig.json,.mypy.ini,pylintrc,analysis_options.yaml,behave.ini,*.runsettings,{,.,_}typos.toml}',
  '**/{clippy,.clippy,rustfmt,.rustfmt,dprint,tslint,cspell,import_map,.tool-versions,mise,.mise}{,.toml,.json}',
  '**/{*.conf.*js,*.conf.ts,biome.json,biome.jsonc,turbo.json,nx.json,.pnp.*js}',
  '**/{tsconfig,jsconfig}*.json',
  '**/{vitest,jest}.{workspace,setup}.*',
  '**/package.json',
  ...LOCKFILES,
  '**/{Cargo.toml,Gemfile,Pipfile,composer.json,deno.json,deno.jsonc,go.mod,go.work,pyproject.toml,setup.cfg}',
  '**/{pom.xml,build.gradle*,settings.gradle*,gradle.properties,CMakeLists.txt,mix.exs,phpunit.xml*,*.csproj}',
  '**/{.cargo,.mvn,.config}/**',
  '**/{rust-toolchain*,mypy.ini,ruff.toml,.ruff.toml}',
  '**/{.npmrc,.yarnrc*,.pnpmfile.*js,pnpm-workspace.yaml,bunfig.toml,.env*}',
  '**/{Makefile,GNUmakefile,makefile,justfile,Justfile,Rakefile,Taskfile.y*ml,noxfile.py,tox.ini}',
  '**/{,.}pytest.{ini,toml}',
  '**/{conftest,sitecustomize,usercustomize}.py',
  '{.github/workflows,.circleci,.buildkite}/**',
  '**/{.gitlab-ci*.yml,.travis.yml,azure-pipelines*.yml,Jenkinsfile}',
  'node_modules/.bin/**',
  '{.venv,venv}/bin/**',
]
