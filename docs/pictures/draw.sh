#!/usr/bin/env bash
# Draws the pictures of README.md and docs/ from photographs of Debian's package python3-skimage; docs/README.md
# names their authors and licences. Everything that is shown as a result is made by gpufilter, which has to be on the
# PATH; vips (Debian's libvips-tools) adds noise, crops, magnifies and lays pictures side by side, and chromium shows
# pages.
set -euo pipefail
pictures="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
samples="${pictures}/../../samples"
photographs=/usr/lib/python3/dist-packages/skimage/data
cat="${photographs}/chelsea.png"
coffee="${photographs}/coffee.png"
rocket="${photographs}/rocket.jpg"
for file in "${cat}" "${coffee}" "${rocket}"; do
  [[ -e "${file}" ]] || { echo "draw.sh: ${file}: not found; install python3-skimage" >&2; exit 1; }
done
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
cd "${work}"

filter() { gpufilter "$@" --device cpu --timing off; }

# side_by_side NAME COLUMNS PICTURE...: docs/pictures/NAME.jpg
side_by_side() {
  local name="$1" columns="$2"
  shift 2
  vips arrayjoin "$*" "${pictures}/${name}.jpg[Q=82,strip]" --across "${columns}" --shim 6 --background 255
}

# small IN OUT: the whole picture, as wide as a panel.
small() { vips thumbnail "$1" "$2" "${panel_width}"; }

# add_noise IN OUT: independent noise on each colour.
add_noise() {
  local width height seed=1
  width="$(vipsheader -f width "$1")"
  height="$(vipsheader -f height "$1")"
  for band in red green blue; do
    vips gaussnoise "${band}.v" "${width}" "${height}" --sigma 16 --mean 0 --seed "${seed}"
    seed=$((seed + 1))
  done
  vips bandjoin "red.v green.v blue.v" noise.v
  vips add "$1" noise.v sum.v
  vips cast sum.v "$2" uchar
}

# README.md: a cat's eye with noise, before and after denoising, magnified; a rocket at dusk before and after a colour
# grade.
vips extract_area "${cat}" clean.png 120 60 200 120
add_noise clean.png noisy.png
filter noisy.png denoised.png --denoise 16
for picture in noisy denoised; do vips zoom "${picture}.png" "${picture}-large.png" 2 2; done

panel_width=400
golden="${samples}/networks/golden-hour.json"
vips extract_area "${rocket}" wide.png 0 43 640 384
filter wide.png graded.png --mlp "${golden}" --color contrast=1.1 --color saturate=1.3
small wide.png before.png
small graded.png after.png
side_by_side before-after 2 noisy-large.png denoised-large.png before.png after.png

# docs/stages/blur.md
vips extract_area "${cat}" clean.png 130 70 133 90
add_noise clean.png noisy.png
filter noisy.png once.png --blur auto
filter noisy.png thrice.png --blur auto --blur auto --blur auto
for picture in noisy once thrice; do vips zoom "${picture}.png" "${picture}-large.png" 2 2; done
side_by_side blur 3 noisy-large.png once-large.png thrice-large.png

# docs/stages/gaussian.md
for sigma in 1 3; do
  filter noisy.png bell.png --gaussian "${sigma}"
  vips zoom bell.png "bell-${sigma}.png" 2 2
done
side_by_side gaussian 3 noisy-large.png bell-1.png bell-3.png

# docs/stages/sharpen.md
for amount in 1 3; do
  filter clean.png sharp.png --sharpen "${amount}"
  vips zoom sharp.png "sharp-${amount}.png" 2 2
done
vips zoom clean.png clean-large.png 2 2
side_by_side sharpen 3 clean-large.png sharp-1.png sharp-3.png

# docs/stages/resize.md
vips extract_area "${cat}" eye.png 165 95 66 45
for kernel in nearest linear lanczos; do
  filter eye.png "${kernel}.png" --resize 400% --kernel "${kernel}"
done
side_by_side resize 3 nearest.png linear.png lanczos.png

# A picture with a hard edge whose transparent pixels are red underneath.
filter "${samples}/badge-alpha.png" red.png --color "1 0 0 -1 1; 0 1 0 0 0; 0 0 1 0 0; 0 0 0 8 -7"
for mode in weighted independent; do
  filter red.png "${mode}.png" --alpha "${mode}" --blur auto --blur auto --blur auto --blur auto
done
for picture in red weighted independent; do
  filter "${picture}.png" flat.jpg --background white --quality 100
  vips extract_area flat.jpg corner.png 40 140 66 45
  vips zoom corner.png "${picture}-large.png" 4 4
done
side_by_side blur-alpha 3 red-large.png independent-large.png weighted-large.png

# docs/stages/color.md, mlp.md, levels.md, tonemap.md
panel_width=266
small "${coffee}" plain.png
filter plain.png sepia.png --color sepia
filter plain.png saturate.png --color saturate=1.6
filter plain.png hue.png --color hue=180
filter plain.png infrared.png --color "${samples}/matrices/infrared.txt"
filter plain.png warm.png --color "${samples}/matrices/warm.txt"
side_by_side color 3 plain.png sepia.png saturate.png hue.png infrared.png warm.png

small "${rocket}" dusk.png
filter dusk.png golden.png --mlp "${golden}"
side_by_side mlp 2 dusk.png golden.png
for curve in reinhard reinhard=0.72 filmic filmic=0.09 filmic=0.25; do
  filter dusk.png "${curve}.png" --tonemap "${curve}"
done
side_by_side tonemap 3 dusk.png reinhard.png reinhard=0.72.png filmic.png filmic=0.09.png filmic=0.25.png

for strength in 0.5 1; do
  filter plain.png "lut${strength}.png" --lut "${samples}/luts/film.cube" --lut-strength "${strength}"
done
side_by_side lut 3 plain.png lut0.5.png lut1.png
filter plain.png gray.png --gray
side_by_side gray 2 plain.png gray.png
filter plain.png hue90.png --hue 90
side_by_side hue 3 plain.png hue90.png hue.png
for gamma in 1.8 0.6; do filter dusk.png "gamma${gamma}.png" --gamma "${gamma}"; done
side_by_side gamma 3 dusk.png gamma1.8.png gamma0.6.png
filter dusk.png brighter.png --exposure 1
filter dusk.png curved.png --curve "0,0 0.25,0.15 0.75,0.85 1,1"
filter dusk.png equalized.png --equalize
side_by_side tones 2 dusk.png brighter.png curved.png equalized.png
filter dusk.png bluer.png --pixel "r = 1.2*r; b = curve(b, 0 0.1 0.5 0.6 1 1)"
filter dusk.png red.png --pixel "y = luma(r, g, b); rgb = select(r > 1.3*b, rgb, y)"
side_by_side pixel 3 dusk.png bluer.png red.png
filter plain.png bright.png --brightness 1.3
for amount in 1.4 0.6; do filter plain.png "contrast${amount}.png" --contrast "${amount}"; done
side_by_side brightness 2 plain.png bright.png contrast1.4.png contrast0.6.png
filter dusk.png brown.png --tint '#704214'
filter dusk.png navy.png --tint navy
side_by_side tint 3 dusk.png brown.png navy.png
for amount in 0.6 -0.4; do filter plain.png "corners${amount}.png" --vignette "${amount}"; done
side_by_side vignette 3 plain.png corners0.6.png corners-0.4.png
for limit in 2 6; do filter dusk.png "clahe${limit}.png" --clahe "${limit}"; done
side_by_side clahe 3 dusk.png clahe2.png clahe6.png
for channel in r g b; do filter plain.png "channel-${channel}.png" --channel "${channel}" --color grayscale; done
filter plain.png swapped.png --swap bgr
side_by_side channel 2 channel-r.png channel-g.png channel-b.png swapped.png
for light in auto 4000 9000; do filter plain.png "light${light}.png" --white-balance "${light}"; done
side_by_side white-balance 2 plain.png lightauto.png light4000.png light9000.png
for amount in 1 -1; do filter dusk.png "vibrance${amount}.png" --vibrance "${amount}"; done
side_by_side vibrance 3 dusk.png vibrance1.png vibrance-1.png
filter "${samples}/badge-alpha.png" white.png --flatten white
filter "${samples}/badge-alpha.png" blue.png --flatten "#3366cc"
side_by_side flatten 2 white.png blue.png

small "${cat}" face.png
filter face.png negative.png --invert
side_by_side invert 2 face.png negative.png
filter face.png white-on-black.png --binarize otsu
filter face.png poster.png --posterize 4
side_by_side binarize 3 face.png white-on-black.png poster.png
filter face.png hazy.png --color contrast=0.4 --color brightness=1.15
filter hazy.png auto.png --levels auto
filter hazy.png clipped.png --levels auto=1
side_by_side levels 3 hazy.png auto.png clipped.png

# docs/stages/median.md
# add_specks IN OUT: one sample of 14 becomes black, one white.
add_specks() {
  local width height seed=4
  width="$(vipsheader -f width "$1")"
  height="$(vipsheader -f height "$1")"
  for band in red green blue; do
    vips gaussnoise "${band}.v" "${width}" "${height}" --sigma 1 --mean 3 --seed "${seed}"
    seed=$((seed + 1))
  done
  vips bandjoin "red.v green.v blue.v" noise.v
  vips relational_const noise.v white.v more 4.465
  vips relational_const noise.v color.v more 1.535
  vips boolean "$1" white.v lighter.v or
  vips boolean lighter.v color.v "$2" and
}
vips extract_area "${cat}" clean.png 120 60 133 90
add_specks clean.png specks.png
filter specks.png blurred.png --blur auto
filter specks.png median.png --median 1
for picture in specks blurred median; do vips zoom "${picture}.png" "${picture}-large.png" 2 2; done
side_by_side median 3 specks-large.png blurred-large.png median-large.png

# docs/stages/morphology.md
vips extract_area "${cat}" eye.png 120 55 105 95
for stage in dilate erode open close; do filter eye.png "${stage}.png" "--${stage}" 2; done
for picture in eye dilate erode open close; do vips zoom "${picture}.png" "${picture}-large.png" 2 2; done
side_by_side morphology 5 eye-large.png dilate-large.png erode-large.png open-large.png close-large.png

# docs/stages/edges.md
panel_width=266
small "${coffee}" plain.png
filter plain.png sobel.png --edges sobel
filter plain.png laplacian.png --edges laplacian
side_by_side edges 3 plain.png sobel.png laplacian.png

# docs/stages/denoise.md
vips extract_area "${cat}" clean.png 120 60 133 90
add_noise clean.png noisy.png
filter noisy.png soft.png --gaussian 1
filter noisy.png denoised.png --denoise 16
for picture in noisy soft denoised; do vips zoom "${picture}.png" "${picture}-large.png" 2 2; done
side_by_side denoise 3 noisy-large.png soft-large.png denoised-large.png

# docs/stages/net.md
networks="${samples}/networks"
vips extract_area "${cat}" clean.png 120 60 133 90
add_noise clean.png noisy.png
filter noisy.png restored.png --net "${networks}/denoise.onnx" --border replicate
for picture in noisy restored; do vips zoom "${picture}.png" "${picture}-large.png" 3 3; done
vips extract_area "${coffee}" cup.png 240 130 200 135
filter cup.png lanczos.png --resize 200%
filter cup.png enlarged.png --net "${networks}/upscale2x.onnx" --border replicate
vips extract_area "${coffee}" spoon.png 300 150 133 90
vips jpegsave spoon.png blocky.jpg --Q 20 --strip
filter blocky.jpg blocky.png
filter blocky.jpg smooth.png --net "${networks}/deblock.onnx" --border replicate
for picture in blocky smooth; do vips zoom "${picture}.png" "${picture}-large.png" 3 3; done
side_by_side net 2 noisy-large.png restored-large.png blocky-large.png smooth-large.png lanczos.png enlarged.png

# docs/stages/linear.md
vips extract_area "${rocket}" launch.png 230 250 240 160
filter launch.png soft.png --gaussian 5
filter launch.png glow.png --linear --gaussian 5 --encoded
side_by_side linear 3 launch.png soft.png glow.png

# docs/stages/depth.md: a dark sky, blurred nearly in linear light with 8 and with 16 bits between the stages.
vips extract_area "${rocket}" sky.png 40 0 240 160
filter sky.png coarse.png --gamma 0.3 --gaussian 1 --gamma 3.3
filter sky.png fine.png --depth 16 --gamma 0.3 --gaussian 1 --gamma 3.3 --depth 8
side_by_side depth 3 sky.png coarse.png fine.png

# docs/stages/rotate.md
panel_width=240
vips thumbnail "${coffee}" stored.png "${panel_width}" --height 160
filter stored.png rotated.png --rotate 90
filter stored.png flipped.png --flip
filter stored.png flopped.png --flop
side_by_side rotate 4 stored.png rotated.png flipped.png flopped.png

# docs/stages/pad.md
filter stored.png framed.png --pad 16 --pad-color black
filter stored.png square.png --pad 240x240
side_by_side pad 2 framed.png square.png

# docs/stages/overlay.md
badge="${samples}/badge-alpha.png"
filter "${badge}" badge.png --resize 90x90
filter stored.png marked.png --overlay badge.png --at southeast+10+10
filter stored.png faint.png --overlay badge.png --opacity 0.35
side_by_side overlay 2 marked.png faint.png

# docs/stages/profile.md: samples in ProPhoto RGB without their profile, and converted.
prophoto=/usr/share/color/icc/ghostscript/rommrgb.icc  # Debian's libgs-common
filter stored.png prophoto.png --profile "${prophoto}"
filter prophoto.png ignored.png --keep none
filter prophoto.png converted.png --to-srgb
side_by_side profile 2 ignored.png converted.png

# docs/stages/trim.md
filter stored.png white.png --pad 40,20,10,60 --pad-color '#f4f0e8'
filter white.png trimmed.png --trim
side_by_side trim 2 white.png trimmed.png

# docs/stats.md
gpufilter stats "${coffee}" --plot "${pictures}/histogram.svg" --device cpu >/dev/null

# docs/reports.md: pages of --report as chromium shows them, one of them dark.
# screenshot PAGE OUT DARK: the top of a page, smaller.
screenshot() {
  chromium --headless=new --no-sandbox --hide-scrollbars --window-size=820,1025 \
    --blink-settings="preferredColorScheme=$((1 - $3))" --screenshot=screenshot.png "file://${PWD}/$1/index.html" \
    >chromium.log 2>&1 || { cat chromium.log >&2; exit 1; }
  vips thumbnail screenshot.png "$2" 517 --height 646
}
mkdir photos
cp "${coffee}" "${cat}" "${rocket}" "${samples}/badge-alpha.png" "${samples}/gradient-16bit.png" "${samples}/grey.png" \
  "${samples}/landscape.png" photos
head -c 3000 "${samples}/landscape.png" >photos/torn.png
filter "${samples}/landscape.jpg" graded.png --color contrast=1.3 --color saturate=1.2 --report one -q
filter photos graded --color contrast=1.3 --color saturate=1.2 --report many -q || true  # one is damaged
screenshot one one.png 0
screenshot many many.png 1
side_by_side report 2 one.png many.png
