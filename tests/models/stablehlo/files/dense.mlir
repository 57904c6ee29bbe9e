module @jit_dense attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x6xf32>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 6). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x6xf32>) -> tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x6xf32>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<8> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<[[4.92061372E-4, 0.119498216, -0.109655142, -0.356236726, -0.181868315, -0.396658629, 0.0240574405, 0.536086082], [-0.196882606, -0.248189956, 0.195936814, 0.142754808, 4.216570e-02, -0.372187227, -0.0117007289, 0.278121293], [-0.537685812, -0.183046311, -0.760489106, -0.515815079, -0.736694037, -0.0940364524, -0.506978571, 0.108505741], [0.0627004355, -0.0747723803, -1.00670385, -0.215477154, -0.0194003787, 0.0453235954, -0.612054288, -0.191101313], [-0.391407639, -0.323534906, 0.424359441, -0.323013872, -0.0130086821, 0.353755951, -0.233440176, -0.0446807817], [0.0441856571, 0.0255127102, -0.490022331, 0.0304560922, 0.543529391, -0.61885786, 0.34375307, 0.0477416106]]> : tensor<6x8xf32>
    %cst_4 = stablehlo.constant dense<[-0.256588161, 0.800166606, 0.304903895, -0.479715556, 0.029806491, 0.230675831, -0.0755128488, 0.273164093]> : tensor<8xf32>
    %cst_5 = stablehlo.constant dense<[[-0.0266069286, 0.266899019, 0.575409055], [-0.270264894, 0.0812554433, -0.18532303], [0.050907366, -0.474877805, -0.231720641], [-0.0784783884, 0.359505534, 0.458088815], [-0.529411137, -0.317856938, 0.258761376], [-0.796967923, -0.18526794, -0.0389147699], [5.028060e-01, 0.275761575, -0.130885363], [-0.14743036, -0.100078158, 0.609411776]]> : tensor<8x3xf32>
    %cst_6 = stablehlo.constant dense<[-0.171209976, -0.121472158, 0.141035631]> : tensor<3xf32>
    %0 = stablehlo.dot_general %arg1, %cst_3, contracting_dims = [1] x [0] : (tensor<?x6xf32>, tensor<6x8xf32>) -> tensor<?x8xf32>
    %1 = stablehlo.broadcast_in_dim %cst_4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [0, 1] : (tensor<1x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %5 = stablehlo.add %0, %4 : tensor<?x8xf32>
    %6 = call @relu(%arg0, %5) : (tensor<i32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %7 = stablehlo.dot_general %6, %cst_5, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %8, %10, dims = [0, 1] : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %12 = stablehlo.add %7, %11 : tensor<?x3xf32>
    %13 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %14 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %cst_0, %14, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %16 = stablehlo.maximum %15, %13 : tensor<?xf32>
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %17, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %16, %18, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %20, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = stablehlo.dynamic_broadcast_in_dim %19, %21, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %23 = stablehlo.subtract %12, %22 : tensor<?x3xf32>
    %24 = stablehlo.exponential %23 : tensor<?x3xf32>
    %25 = stablehlo.reduce(%24 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %26 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.concatenate %26, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %28 = stablehlo.dynamic_broadcast_in_dim %25, %27, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %29, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.dynamic_broadcast_in_dim %28, %30, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %32 = stablehlo.divide %24, %31 : tensor<?x3xf32>
    return %32 : tensor<?x3xf32>
  }
  func.func private @relu(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c = stablehlo.constant dense<8> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %3 = stablehlo.maximum %arg1, %2 : tensor<?x8xf32>
    return %3 : tensor<?x8xf32>
  }
}
