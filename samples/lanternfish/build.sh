#!/usr/bin/env bash
# Builds the Lanternfish manual with the real generators: build.sh [GENERATOR…]. Output: .passage/lanternfish/GENERATOR.
#
# Python generators get an environment of their own, Node generators an npm install (Starlight needs Node 22.12).
# hugo, mdbook and jekyll must be on the PATH; of all generators, those that are not there are left out with a word.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$here/../.." && pwd)/.passage/lanternfish
all=(docusaurus mkdocs zensical vitepress vitepress-clean starlight sphinx mdbook hugo jekyll)

source_of() { # zensical reads MkDocs' files; one VitePress source is built twice
    case $1 in
    zensical) echo mkdocs ;;
    vitepress-clean) echo vitepress ;;
    *) echo "$1" ;;
    esac
}

python_in() { # NAME PACKAGE…: an environment with the packages; prints its bin folder
    local environment=$out/.environments/$1
    [ -d "$environment" ] || python3 -m venv "$environment"
    "$environment/bin/pip" install -q "${@:2}" >&2
    echo "$environment/bin"
}

build() { # GENERATOR FOLDER: builds the sources in FOLDER and prints the output folder
    case $1 in
    docusaurus)
        # "Last updated" is read from git.
        git init -q && git add -A && git -c user.name=build -c user.email=build@example.com commit -qm build
        npm install --no-audit --no-fund >&2 && npx docusaurus build >&2
        echo build
        ;;
    mkdocs) "$(python_in mkdocs -r requirements.txt)/mkdocs" build -q >&2 && echo site ;;
    zensical) "$(python_in zensical zensical==0.0.73)/zensical" build >&2 && echo site ;;
    vitepress | vitepress-clean)
        [ "$1" = vitepress ] || sed -i.before 's/cleanUrls: false/cleanUrls: true/' docs/.vitepress/config.mjs
        npm install --no-audit --no-fund >&2 && npx vitepress build docs >&2
        echo docs/.vitepress/dist
        ;;
    starlight) npm install --no-audit --no-fund >&2 && npx astro build >&2 && echo dist ;;
    sphinx) "$(python_in sphinx -r requirements.txt)/sphinx-build" -q -b html . _build/html >&2 && echo _build/html ;;
    mdbook) mdbook build >&2 && echo book ;;
    hugo) hugo --quiet >&2 && echo public ;;
    jekyll) jekyll build >&2 && echo _site ;;
    esac
}

needs() {
    case $1 in
    docusaurus | vitepress | vitepress-clean | starlight) echo npm ;;
    mkdocs | zensical | sphinx) echo python3 ;;
    *) echo "$1" ;;
    esac
}

for generator in "${@:-${all[@]}}"; do
    if ! command -v "$(needs "$generator")" >/dev/null; then
        echo "$generator: left out, $(needs "$generator") is not installed" >&2
        continue
    fi
    work=$out/.sources/$generator
    rm -rf "$work" "${out:?}/$generator"
    mkdir -p "$work"
    cp -R "$here/$(source_of "$generator")/." "$work"
    if built=$(cd "$work" && build "$generator"); then
        mv "$work/$built" "$out/$generator"
        echo "$generator: $out/$generator"
    else
        echo "$generator: the build failed" >&2
        exit 1
    fi
done
